"""Running commands and looking at what they leave."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from unittest.mock import patch

import psutil
from markupsafe import escape

from duramen.cli.app import application, run

FILES = ["report.html", "result.csv", "result.parquet", "run.json"]


@dataclass(frozen=True)
class Result:
    """Outcome of a command: exit code, output, and an exception that no user sees."""

    exit_code: int
    stdout: str
    stderr: str
    output: str
    exception: BaseException | None


class Recorder(io.TextIOWrapper):
    """Standard output or error, which also writes to a stream that both share."""

    def __init__(self, shared):
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace", newline="")
        self.shared = shared

    def write(self, text):
        self.shared.write(text)
        return super().write(text)

    def text(self):
        self.flush()
        return self.buffer.getvalue().decode()


def duramen(*words, standard_input=b""):
    """Run a command in this process, with bytes for its standard input."""
    both = io.StringIO()
    printed, complained = Recorder(both), Recorder(both)
    code, exception = 0, None
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(complained),
        patch("sys.stdin", io.TextIOWrapper(io.BytesIO(standard_input))),
    ):
        try:
            run([str(word) for word in words])
        except SystemExit as end:
            code = 0 if end.code is None else end.code
        except Exception as error:
            code, exception = 1, error
    return Result(code, printed.text(), complained.text(), both.getvalue(), exception)


def arguments(name):
    """Return the arguments and options of a command."""
    return application()[name].assemble_argument_collection()


def undrawn(section, prefix):
    """Stand in for `reports.report.svg`: an element that holds no more than its text."""
    return f'<svg role="img"><title>{escape(section.text)}</title></svg>'


def done(out, *words):
    """Run a command that shall succeed; return what it said, and its record."""
    result = duramen(*words, "--out", out)
    assert result.exit_code == 0, result.output
    return result, json.loads((out / "run.json").read_text(encoding="utf-8"))


def assert_refused(command, out, words, message):
    """Exit code 2, one line without a traceback after notes, and nothing left behind."""
    result = duramen(command, *words, "--out", out)
    assert result.exit_code == 2, result.output
    *notes, line = result.stderr.strip().splitlines()
    assert all(note.startswith("note: ") for note in notes)
    assert line.startswith(f"duramen {command}: ")
    assert message in line
    assert "Traceback" not in result.output
    assert not out.exists()
    assert left_over(out.parent) == []


def assert_fault_leaves_nothing(step, out, words):
    """A fault of the package in a step keeps its traceback, and no file is left."""
    with patch(step, side_effect=ValueError("a bug")):
        result = duramen(*words, "--out", out)
    assert isinstance(result.exception, ValueError)
    assert str(result.exception) == "a bug"
    assert not out.exists()
    assert left_over(out.parent) == []


def left_over(folder):
    """Unfinished folders of results."""
    return [entry.name for entry in folder.iterdir() if entry.name.endswith(".part")]


def processor_time():
    """Seconds that processes which were started here, and have ended, used in all."""
    import resource  # not on every system that runs the other tests

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def assert_stops(folder, words, *, after, results=False, begun=""):
    """Ctrl-C, some seconds after the program got to work, ends it within one, without a trace.

    A second of two processors, however busy these are with other things; two of them where it
    writes a report with the results so far. Work has begun once a file is in its folder.
    """
    used_by_others = processor_time()
    before = sorted(entry.name for entry in folder.iterdir())
    process = subprocess.Popen(
        [sys.executable, "-m", "duramen", *map(str, words), "--out", "out"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 30
        while not list(folder.glob(f".out.*.part/{begun}")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(after)
        assert process.poll() is None
        used = psutil.Process(process.pid).cpu_times()
        os.kill(process.pid, signal.SIGINT)
        _, complaint = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert processor_time() - used_by_others - used.user - used.system < (4 if results else 2)
    assert process.returncode == 130, (process.returncode, complaint)
    last = complaint.strip().splitlines()[-1]
    written = "the results are in out" if results else "nothing was written"
    assert last == f"duramen {words[0]}: interrupted, {written}"
    left = ["out"] if results else []
    assert sorted(entry.name for entry in folder.iterdir()) == sorted([*before, *left])
