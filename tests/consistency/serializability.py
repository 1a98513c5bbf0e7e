"""Could these transactions have happened one after the other, in an order that fits the clock?

Lists that only grow, with elements that are never used twice, tell their own history (the idea is Elle's): the last
state of a list is the order of the appends to it. From that follows who must come before whom: the writer of an
element before the writer of the next (ww) and before everyone who saw it (wr), everyone who saw a list before the
writer of the element that follows (rw), and whoever was answered before whoever was sent later. If these go round in
a circle, no order exists.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from consistency.history import FAILED, LOST, OK, Transaction

Edges = dict[int, dict[int, str]]
Lists = dict[str, list[int]]


def anomalies(transactions: Sequence[Transaction], final: Lists) -> list[str]:
    """What is wrong, as sentences; nothing, if the transactions are strictly serializable."""
    found = [*lists_that_differ(transactions, final), *appends_that_differ(transactions, final)]
    if found:
        return found
    happened = [each for each in transactions if did_happen(each, final)]
    cycle = find_cycle(dependencies(happened, final))
    return [] if cycle is None else [f"A circle: {cycle}."]


def did_happen(transaction: Transaction, final: Lists) -> bool:
    """One that was lost happened if something of it is there; if it only read, it tells nothing."""
    if transaction.status == LOST:
        return any(element in final.get(key, []) for key, element in transaction.appends)
    return transaction.status == OK


def lists_that_differ(transactions: Sequence[Transaction], final: Lists) -> Iterator[str]:
    for key, elements in final.items():
        if len(set(elements)) < len(elements):
            yield f"Something was appended to {key} twice."
    for transaction in transactions:
        for key, seen in transaction.reads.items():
            if final.get(key, [])[: len(seen)] != seen:
                yield f"Transaction {transaction.number} saw {seen} in {key}, which it never was."


def appends_that_differ(transactions: Sequence[Transaction], final: Lists) -> Iterator[str]:
    known = {append for transaction in transactions for append in transaction.appends}
    for key, elements in final.items():
        for element in elements:
            if (key, element) not in known:
                yield f"Nobody appended {element} to {key}."
    for transaction in transactions:
        there = [element in final.get(key, []) for key, element in transaction.appends]
        if transaction.status == FAILED and any(there):
            yield f"Transaction {transaction.number} failed and happened."
        if transaction.status == OK and not all(there):
            yield f"Transaction {transaction.number} was acknowledged and is not there."
        if any(there) and not all(there):
            yield f"Transaction {transaction.number} is half there."


def dependencies(transactions: Sequence[Transaction], final: Lists) -> Edges:
    edges: Edges = defaultdict(dict)
    writers = {append: each.number for each in transactions for append in each.appends}

    def add(before: int | None, after: int | None, why: str) -> None:
        if before is not None and after is not None and before != after:
            edges[before].setdefault(after, why)

    def writer(key: str, position: int) -> int | None:
        elements = final.get(key, [])
        return writers.get((key, elements[position])) if 0 <= position < len(elements) else None

    for key, elements in final.items():
        for position in range(1, len(elements)):
            add(writer(key, position - 1), writer(key, position), f"ww {key}")
    for each in transactions:
        lengths = {**each.lengths, **{key: len(seen) for key, seen in each.reads.items()}}
        for key, length in lengths.items():
            add(writer(key, length - 1), each.number, f"wr {key}")
            add(each.number, writer(key, length), f"rw {key}")
    add_real_time(transactions, edges)
    return edges


def add_real_time(transactions: Sequence[Transaction], edges: Edges) -> None:
    """Whoever was answered before another was sent comes before it. What follows from other edges is left out."""
    moments = sorted(
        [(each.invoked, 1, each) for each in transactions]
        + [(each.returned, 0, each) for each in transactions if each.status == OK],
        key=lambda moment: moment[:2],
    )
    done: list[Transaction] = []  # of those answered, the ones that no other answered one comes after
    for _, is_sent, each in moments:
        if is_sent:
            for before in done:
                edges[before.number].setdefault(each.number, "time")
        else:
            done = [other for other in done if other.returned >= each.invoked]
            done.append(each)


def find_cycle(edges: Edges) -> list[str] | None:
    """A circle in the graph, as the reasons along it; None if there is none."""
    finished: set[int] = set()
    for start in list(edges):
        if start in finished:
            continue
        path: list[int] = [start]
        on_path = {start}
        branches = [iter(edges.get(start, {}))]
        while path:
            following = next(branches[-1], None)
            if following is None:
                finished.add(path[-1])
                on_path.discard(path.pop())
                branches.pop()
            elif following in on_path:
                circle = [*path[path.index(following) :], following]
                return [f"{a} -{edges[a][b]}-> {b}" for a, b in pairwise(circle)]
            elif following not in finished:
                path.append(following)
                on_path.add(following)
                branches.append(iter(edges.get(following, {})))
    return None
