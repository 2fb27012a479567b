"""Signals that come during a short step act after it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

from duramen.support.files import uninterrupted

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs os.kill")


def _step(done: list[str], error: Exception | None = None) -> None:
    with uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        done.append("step")
        if error is not None:
            raise error


@posix
def test_a_signal_waits_for_the_end_of_the_step() -> None:
    """Also where another thread could take the signal, as those of linear algebra libraries do."""
    done: list[str] = []
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            _step(done)
    finally:
        over.set()
        other.join()
    assert done == ["step"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@posix
def test_an_error_in_the_step_gives_way_to_the_signal_and_handlers_come_back() -> None:
    with pytest.raises(KeyboardInterrupt) as stopped:
        _step([], ValueError("of the step"))
    assert isinstance(stopped.value.__context__, ValueError)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_other_threads_signals_are_left_as_they_are() -> None:
    results = []

    def work() -> None:
        with uninterrupted():
            results.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [signal.getsignal(signal.SIGINT)]
