"""Pools of fewer threads than were asked for do all the work."""

from __future__ import annotations

import threading

import pytest
from tests.grid import one_test

from duramen.support import threads
from duramen.support.threads import Pool, startable


def _limit(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    start, begun = threading.Thread.start, []

    def limited(thread: threading.Thread) -> None:
        if sum(other.is_alive() for other in begun) >= most:
            raise RuntimeError("can't start new thread")
        begun.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)


def test_the_threads_that_start_do_all_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    _limit(monkeypatch, 2)
    with Pool(8) as pool:
        assert list(pool.map(abs, range(-50, 0))) == list(range(50, 0, -1))


def test_a_pool_without_threads_works_in_the_calling_one(monkeypatch: pytest.MonkeyPatch) -> None:
    _limit(monkeypatch, 0)
    with Pool(8) as pool:
        assert list(pool.map(abs, range(-50, 0))) == list(range(50, 0, -1))
        failed = pool.submit(int, "x")
        with pytest.raises(ValueError, match="invalid literal"):
            failed.result()


def test_leaving_a_pool_cancels_what_has_not_begun() -> None:
    begun, go = threading.Event(), threading.Event()

    def first() -> str:
        begun.set()
        go.wait()
        return "done"

    with Pool(1) as pool:
        futures = [pool.submit(first), *(pool.submit(abs, -1) for _ in range(9))]
        begun.wait()
        threading.Timer(0.05, go.set).start()
    assert futures[0].result() == "done"
    assert all(future.cancelled() for future in futures[1:])


@one_test
@pytest.mark.parametrize("most", [0, 3, 100])
def test_startable_counts_the_calling_thread(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _limit(monkeypatch, most)
    assert startable(8) == min(most, 7) + 1


def test_threads_leave_half_of_the_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "addresses_left", lambda: 6 << 20)
    monkeypatch.setattr(threads, "_STACK", 1 << 20)
    assert startable(8) == 3 + 1
    monkeypatch.setattr(threads, "addresses_left", lambda: 0)
    assert startable(8) == 1
    begun = threading.active_count()
    with Pool(8) as pool:
        assert list(pool.map(abs, range(-9, 0))) == list(range(9, 0, -1))
        assert threading.active_count() == begun
