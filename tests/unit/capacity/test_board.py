"""Sums over worker processes."""

from __future__ import annotations

import multiprocessing

from hashrange.capacity.board import SharedBoard

WORKERS = 3
ADDITIONS = 2000


def work(board: SharedBoard, worker: int) -> None:
    board.take_column(worker)
    for number in range(ADDITIONS):
        board.sum(b"row %d" % (number % 7)).add(1.5)


def test_nothing_is_lost_when_several_processes_add_at_once() -> None:
    board = SharedBoard(WORKERS)
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=work, args=(board, worker)) for worker in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=30)
    assert sum(board.sum(b"row %d" % number).total() for number in range(7)) == 1.5 * ADDITIONS * WORKERS


def test_the_successor_of_a_worker_goes_on_where_it_stopped() -> None:
    board = SharedBoard(2)
    board.sum(b"a").add(2)
    board.take_column(0)
    board.sum(b"a").add(3)
    assert board.sum(b"a").total() == 5
    assert board.sum(b"b").total() == 0
