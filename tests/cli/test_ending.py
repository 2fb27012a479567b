"""Signals that come while options are parsed, and memory that runs out."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.commands import duramen

from duramen.cli import main
from duramen.cli.console import note, user_errors
from duramen.cli.ending import (
    Stopped,
    ignore_further_stops,
    lost_stops,
    obey,
    out_of_memory,
    raise_lost_stop,
    stopped_by_signals,
)

PLAN = ("plan", "--n-rows", "10", "--n-features", "10", "--memory", "1MB", "--relevant", "1")


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "duramen: interrupted\n"),
        (Stopped(signal.SIGTERM), 143, "duramen: stopped by SIGTERM\n"),
        (MemoryError(), 2, "duramen: out of memory (MemoryError)\n"),
    ],
)
def test_what_ends_a_command_before_it_begins_is_said(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def parsing(*_: object) -> None:
        raise raised

    monkeypatch.setattr("duramen.cli.functions.command_of", parsing)
    monkeypatch.setattr(sys, "argv", ["duramen", *PLAN])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert capsys.readouterr().err == said


def test_a_stop_that_a_finalizer_swallows_is_raised_later(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    with stopped_by_signals():
        Finalized()
        with pytest.raises(Stopped):
            raise_lost_stop()
    assert capsys.readouterr().err == ""


def test_errors_near_the_limit_on_addresses_are_taken_for_lack_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resource = pytest.importorskip("resource")
    assert out_of_memory(MemoryError())
    assert not out_of_memory(SystemError())
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 20, 1 << 20))
    assert out_of_memory(SystemError())


@pytest.fixture
def hang_up_ends() -> Iterator[None]:
    """The tests themselves may run under nohup, which ignores SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hang_up_ends")
def test_a_stop_that_was_obeyed_is_not_obeyed_again() -> None:
    ignore_further_stops()  # without effect here
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
    with stopped_by_signals():
        with pytest.raises(Stopped):
            signal.raise_signal(signal.SIGHUP)
        ignore_further_stops()
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL


@pytest.mark.parametrize(("number", "kind"), [("SIGINT", KeyboardInterrupt), ("SIGTERM", Stopped)])
def test_a_stop_that_is_swallowed_or_disguised_is_raised_again(number: str, kind: type) -> None:
    """As where a compiled module is imported, which turns it into an ImportError or clears it."""

    def importing() -> None:
        try:
            signal.raise_signal(getattr(signal, number))
        except KeyboardInterrupt:
            raise ImportError("partially initialized module") from None

    with pytest.raises(kind), stopped_by_signals():
        importing()
    with stopped_by_signals():
        with pytest.raises(ImportError):
            importing()
        with pytest.raises(kind):
            raise_lost_stop()
        with pytest.raises(kind), lost_stops():
            raise ValueError
        obey(KeyboardInterrupt())
        raise_lost_stop()
    raise_lost_stop()
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_note_that_cannot_be_shown_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        note("a remark")
        with pytest.raises(SystemExit) as ended, user_errors("rank"):
            raise ValueError("a reason")
        assert ended.value.code == 2
        monkeypatch.undo()
        with contextlib.suppress(OSError):
            full.close()


@pytest.mark.parametrize(
    "words",
    [
        ("rank", "~nouser/t.csv", "--target", "y"),
        ("rank", "--demo", "--out", "~nouser/out"),
        ("rank", "--demo", "--checkpoint", "~nouser/kept.npz"),
        ("pack", "~nouser/t.csv", "--out", "s"),
        ("select", "~nouser/s.store", "--target", "y"),
    ],
)
def test_a_home_that_is_not_known_is_one_line(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = duramen(*words)
    assert ended.exit_code == 2
    [line] = [line for line in ended.stderr.splitlines() if not line.startswith("note: ")]
    assert "the home of ~nouser is not known" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_while_text_is_executed_ends_by_its_code(tmp_path: Path) -> None:
    """Dataclasses are made from text while modules are imported, late ones during the work."""
    (tmp_path / "program.py").write_text(
        "import sys\nfrom unittest.mock import patch\nfrom duramen.cli import main\n\n"
        "def run(_):\n"
        "    try:\n        exec('raise KeyboardInterrupt')\n"
        "    except KeyboardInterrupt:\n        sys.exit(130)\n\n"
        "with patch('duramen.cli.app.run', run):\n    main()\n"
    )
    ended = subprocess.run([sys.executable, "-m", "program"], cwd=tmp_path, check=False)
    assert ended.returncode == 130
