"""Texts from a grammar: condition, key condition, update and projection expressions, and PartiQL statements.

A grammar is a dict from a name to its alternatives; `<name>` in an alternative stands for one of that name's own. Past
a depth the first alternative is taken, which must not recur.
"""

from __future__ import annotations

import re
from random import Random

from fuzz.mutate import ODD_TEXTS

Grammar = dict[str, list[str]]

DEPTH_MAX = 9
NONTERMINAL = re.compile(r"<([a-z_]+)>")

EXPRESSIONS: Grammar = {
    "condition": [
        *("<test>", "<test>", "<test>", "<condition> AND <condition>", "<condition> OR <condition>"),
        *("NOT <condition>", "(<condition>) OR (<test>)"),
    ],
    "test": [
        *("<operand> <comparator> <operand>", "attribute_exists(<path>)", "attribute_not_exists(<path>)"),
        *("<operand> BETWEEN <operand> AND <operand>", "<operand> IN (<operands>)", "attribute_type(<path>, <bound>)"),
        *("begins_with(<operand>, <operand>)", "contains(<operand>, <operand>)", "size(<path>) > <bound>"),
        *("<operand> = <operand>", "<path> = <bound>", "<path> <comparator> <bound>", "<odd_test>"),
    ],
    "odd_test": [
        "((<condition>))",
        "<function>(<operands>)",
        "<operand>",
        "(<operand>) = <bound>",
        "<bound> = <bound>",
        "<path> = <odd_path>",
    ],
    "comparator": ["=", "<>", "<", "<=", ">", ">="],
    "function": ["size", "contains", "begins_with", "attribute_exists", "if_not_exists", "list_append", "nonsense"],
    "operands": ["<operand>", "<operand>, <operand>", "<operand>, <operands>"],
    "operand": ["<path>", "<bound>", "size(<path>)", "<bound>", "<path>"],
    "path": ["<name>", "<name>", "<name>", "<path>.<name>", "<path>[<index>]", "<name>"],
    "odd_path": ["<odd_name>", "<path>[<odd_index>]", "<path>.<odd_name>", "<path>.", "(<path>)"],
    "name": ["a", "b", "c", "n", "l", "m", "ss", "ns", "pk", "sk", "#a", "#b", "#c", "expires"],
    "odd_name": ["size", "_x", "é", "01", "a-b", "#", ":", "contains", "year", "a" * 300, "#a#b"],
    "index": ["0", "1", "2", "99", "007", "0"],
    "odd_index": ["4294967296", "-1", "99999999999999999999", ":a", "", "1.5", "a", "#a"],
    "bound": [":a", ":b", ":c", ":d", ":e", ":f"],
    "key_condition": [
        *(
            "pk = <bound>",
            "pk = :a AND sk <comparator> :b",
            "pk = :a AND begins_with(sk, :b)",
            "sk = :a AND n BETWEEN :b AND :c",
        ),
        *("<key> = <bound>", "<key> = <bound> AND <key_test>", "<key_test> AND <key> = <bound>"),
        *("(<key> = <bound>) AND (<key_test>)", "<condition>", "<key> = <bound> AND <key_test> AND <key_test>"),
    ],
    "key": ["pk", "sk", "#a", "#b", "a", "n"],
    "key_test": [
        *("<key> <comparator> <bound>", "<key> BETWEEN <bound> AND <bound>", "begins_with(<key>, <bound>)"),
        *("<bound> = <key>", "<key> IN (<bound>)"),
    ],
    "update": [
        "<section>",
        "<section>",
        "<section> <section>",
        "SET <target> = <sum> REMOVE <target> ADD <target> <bound>",
    ],
    "section": [
        "SET <sets>",
        "REMOVE <target>",
        "ADD <target> <bound>",
        "DELETE <adds>",
        "SET <target> = <sum>",
        "<odd_section>",
    ],
    "odd_section": [
        "SET",
        "SET <odd_path> = <sum>",
        "SET <path> = (<sum>)",
        "SET <path> = <term> + <term> - <term>",
        "SET <path>",
    ],
    "target": ["a", "b", "c", "l[1]", "m.b", "m.b.c", "l[99]", "ss", "ns", "#a", "<path>", "<path>"],
    "sets": ["<path> = <sum>", "<path> = <sum>, <sets>"],
    "sum": ["<term>", "<term> + <term>", "<term> - <term>", "<term>", "<term>"],
    "term": [
        *("<bound>", "<bound>", "n", "a"),
        *("<bound>", "<path>", "if_not_exists(<path>, <term>)", "list_append(<term>, <term>)"),
        *("<bound>", "<odd_test>"),
    ],
    "paths": ["<path>", "<path>, <paths>"],
    "adds": ["<target> <bound>", "<target> <bound>, <adds>", "<path> <operand>"],
    "projection": ["<paths>", "<paths>", "<target>", "<target>, <target>", "<path>,,<path>", "<odd_path>"],
}

STATEMENTS: Grammar = {
    "statement": ["<select>", "<select>", "<insert>", "<update>", "<update>", "<delete>", "<exists>"],
    "select": [
        *("SELECT <columns> FROM <table> WHERE <where>", "SELECT <columns> FROM <table>"),
        *("SELECT <columns> FROM <table> WHERE <where> ORDER BY <order>", "SELECT <columns> FROM <table> LIMIT 1"),
    ],
    "columns": ["*", "<path>", "<path>, <path>", "COUNT(*)", "<columns>, <columns>", "<path> AS x"],
    "table": [
        '"table"',
        '"table"',
        '"numbers"',
        '"binaries"',
        '"table"."gsi"',
        '"table"."lsi"',
        "absent",
        '""',
        "a.b.c",
    ],
    "order": ["sk", "sk DESC", "pk ASC, sk DESC", "<path>", "n"],
    "where": [
        *("<key>", "<key>", "<key> AND <test>", "<where> AND <where>", "<where> OR <where>", "NOT <where>"),
        *("(<where>)", "<test>"),
    ],
    "key": [
        "pk = <literal> AND sk = <literal>",
        "pk = 'k' AND sk = 'k'",
        "pk = ? AND sk = ?",
        "pk = <literal>",
        "pk IN [<list>]",
    ],
    "test": [
        *(
            "<operand> <comparator> <operand>",
            "<operand> IS <type>",
            "<operand> IS NOT <type>",
            "<operand> IN [<list>]",
        ),
        *("<operand> IN (<list>)", "<operand> IN <<<list>>>", "<operand> BETWEEN <operand> AND <operand>"),
        *("begins_with(<operand>, <operand>)", "contains(<operand>, <operand>)", "attribute_type(<path>, <literal>)"),
        *("size(<path>) > <literal>", "<operand> NOT IN [<list>]", "EXISTS(<select>)", "<operand>"),
    ],
    "comparator": ["=", "<>", "!=", "<", "<=", ">", ">=", "||"],
    "type": ["MISSING", "NULL", "STRING", "LIST", "NUMBER", "NONSENSE"],
    "operand": [
        "<path>",
        "<literal>",
        "<path>",
        "?",
        "size(<path>)",
        "(<operand>)",
        "-<operand>",
        "<operand> + <operand>",
    ],
    "path": ["a", "n", "l", "m", "ss", "pk", "sk", "<path>.b", "<path>[0]", "<path>['b']", '"a"', "<path>[-1]", '"é"'],
    "literal": [
        *("'k'", "1", "'k'", "-1.5e3", "1e999", "''", "'it''s'", "true", "NULL", "MISSING", "[<list>]", "<<<list>>>"),
        *("{'a': <literal>}", "{'pk': 'k', 'sk': 'k', 'a': <literal>}", "?", "`2020T`", ".5", "1" * 60, "<<>>", "[]"),
    ],
    "list": ["<literal>", "<literal>, <literal>", "<literal>, <list>", ""],
    "insert": [
        *("INSERT INTO <table> VALUE {'pk': <literal>, 'sk': <literal>, 'a': <literal>}",),
        *("INSERT INTO <table> VALUE {'pk': 'k', 'sk': ?, 'b': <literal>}", "INSERT INTO <table> VALUE ?"),
        *("INSERT INTO <table> VALUE <literal>", "INSERT INTO <table> VALUE {'pk': 1, 'pk': 2}"),
    ],
    "update": [
        *("UPDATE <table> <change> WHERE <where>", "UPDATE <table> <change> <change> WHERE <key> <returning>"),
        *("FROM <table> WHERE <where> <change>", "UPDATE <table> <change>"),
    ],
    "change": ["SET <path> = <sum>", "REMOVE <path>", "SET <path> = <sum>, <path> = <sum>", "REMOVE <path>, <path>"],
    "sum": [
        *("<operand>", "<operand> + <operand>", "<operand> - <operand>", "list_append(<operand>, <operand>)"),
        *("set_add(<path>, <literal>)", "set_delete(<path>, <literal>)", "if_not_exists(<path>, <operand>)"),
    ],
    "returning": ["", "RETURNING ALL OLD *", "RETURNING MODIFIED NEW *", "RETURNING ALL *", "RETURNING NONE"],
    "delete": ["DELETE FROM <table> WHERE <where> <returning>", "DELETE FROM <table>"],
    "exists": ["EXISTS(<select>)", "EXISTS(<delete>)", "EXISTS(<exists>)"],
}

WORDS = [
    "AND",
    "OR",
    "NOT",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "=",
    "<",
    ">",
    "SET",
    ":a",
    "#a",
    "a",
    "0",
    "'",
    '"',
    "/*",
    "--",
]


def expanded(chance: Random, grammar: Grammar, name: str, depth: int = 0) -> str:
    alternatives = grammar[name]
    chosen = alternatives[0] if depth > DEPTH_MAX else chance.choice(alternatives)
    return NONTERMINAL.sub(lambda match: expanded(chance, grammar, match[1], depth + 1), chosen)


def drawn(chance: Random, grammar: Grammar, name: str) -> str:
    """A text of the grammar, now and then damaged."""
    text = expanded(chance, grammar, name)
    return damaged_text(chance, text) if chance.random() < 0.2 else text


def damaged_text(chance: Random, text: str) -> str:
    """Damage by words, which gets further into a parser than damage by characters."""
    kind = chance.randrange(7)
    words = text.split(" ")
    place = chance.randrange(len(words))
    if kind == 0:
        return " ".join(words[:place] + words[place + 1 :])
    if kind == 1:
        return " ".join([*words[:place], chance.choice(WORDS), *words[place:]])
    if kind == 2:
        return " ".join([*words[:place], chance.choice(words), *words[place + 1 :]])
    if kind == 3:
        return text[: chance.randrange(len(text) + 1)]
    if kind == 4:
        place = chance.randrange(len(text) + 1)
        return text[:place] + chance.choice((*ODD_TEXTS[:16], chr(chance.randrange(0x300)))) + text[place:]
    if kind == 5:
        return repeated(chance, text)
    return text.lower() if chance.random() < 0.5 else text.replace(" ", chance.choice(("", "\n", "\t", "/**/", "  ")))


def repeated(chance: Random, text: str) -> str:
    """The same many times over: what is deep, long or slow."""
    times = chance.choice((10, 100, 300, 2000))
    pairs = (("(", ")"), ("NOT ", ""), ("a AND ", ""), ("[", "]"), ("'", ""), ("/*", ""), ("- ", ""), ("((", ""))
    first, last = chance.choice(pairs)
    return chance.choice((first * times + text + last * times, (text + " AND ") * times + text, text * min(times, 100)))
