"""Commands run in forked children of a process that has imported everything, and what they leave.

A fresh interpreter takes seconds; a forked child takes milliseconds, and signals, limits and users
can be set for it alone.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import io
import json
import os
import pkgutil
import re
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tests.faults.batches import Attempt

OUT, KEPT = "out", "kept.npz"
TABLE = "table.csv"
# Words of every command; results go to the folder `OUT`, what is done to the file `KEPT`.
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "rank": tuple(
        f"{TABLE} --target y --trees 8 --jobs 1 --test altmann --permutations 6 "
        f"--checkpoint {KEPT}".split()
    ),
    "select": tuple(
        f"{TABLE} --target y --trees 24 --n-subspace-features 6 --relevance probe --jobs 1 "
        f"--checkpoint {KEPT}".split()
    ),
    "context": tuple(
        f"{TABLE} --target y --context c --trees 8 --permutations 8 --jobs 1 "
        f"--checkpoint {KEPT}".split()
    ),
    "exact": tuple(f"{TABLE} --target y --n-bins 2 --drop x4 --drop x5 --drop x6 --jobs 1".split()),
    "compare": tuple(
        f"{TABLE} --target y --trees 8 --n-resamples 3 --n-features 2 --methods mdi "
        "--methods all-features --jobs 1".split()
    ),
    "plan": ("--n-rows", "100", "--n-features", "1000", "--memory", "1MB", "--relevant", "3"),
    "network": tuple(f"{TABLE} --trees 8 --jobs 1 --checkpoint {KEPT}".split()),
    "connectome": tuple(
        f"{TABLE} --drop y --drop c --method pearson --jobs 1 --checkpoint {KEPT}".split()
    ),
    "pack": tuple(f"{TABLE} --memory 16KB --jobs 1".split()),
}
RESULTS = ("report.html", "result.csv", "result.parquet", "run.json")
# Signals that end a command as Ctrl-C does.
STOPS = (signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU)
# Longest time of a command in seconds; one that takes longer hangs.
PATIENCE = 120.0

# OpenBLAS writes lines of its own where memory or threads are short, and ends the process itself:
# it calls exit(1), or raises SIGINT.
_OPENBLAS = "OpenBLAS "

Tree = dict[str, str]


def counted(attempt: Attempt) -> Attempt:
    """Return an attempt whose own errors are faults; those of commands are in what they say."""

    @functools.wraps(attempt)
    def sound(number: int, folder: Path) -> str:
        try:
            return attempt(number, folder)
        except (OSError, ValueError) as error:
            return f"wrong: the attempt itself failed: {type(error).__name__}: {error}"

    return sound


def words_of(command: str, *more: str) -> list[str]:
    """Return the words of a command that writes to `OUT`."""
    return [command, *COMMANDS[command], "--out", OUT, *more]


@functools.cache
def preload() -> None:
    """Import what commands import, so that children find it loaded.

    Small tables stand for large ones: columns are packed in several groups, and what is done is
    kept after every step.
    """
    import duramen
    from duramen.io.store import reader
    from duramen.jobs import replicates
    from duramen.results import archive

    replicates._INTERVAL = 0.0
    archive._PATIENCE = 0
    reader.LEAST_BYTES = 1
    _parse_once()

    for module in pkgutil.walk_packages(duramen.__path__, "duramen."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in ("pyarrow.csv", "pyarrow.parquet", "pyarrow.compute", "rich.table", "rich.panel"):
        importlib.import_module(name)
    for name in ("matplotlib.figure", "matplotlib.backends.backend_svg", "scipy.special"):
        importlib.import_module(name)


def _parse_once() -> None:
    """Have a command refused, which imports what parsing and messages need."""
    from duramen.cli.app import run

    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        run(["plan", "--n-rows=1", "--n-features=1", "--memory=none", "--relevant=1"])


@functools.cache
def tables_folder() -> Path:
    """Return a folder with the tables that commands read."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv

    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 60)
    columns = {f"x{j}": random.normal(size=60) + (j == 0) * 2 * y for j in range(12)}
    table = pa.table({**columns, "c": random.integers(0, 2, 60), "y": np.array(["no", "yes"])[y]})
    pyarrow.csv.write_csv(table, folder / TABLE)
    pyarrow.csv.write_csv(table.slice(0, 30), folder / "other.csv")
    return folder


@dataclass(frozen=True)
class Ended:
    """End of a command.

    Attributes
    ----------
    code : int
        Exit status; minus the number of the signal that ended it.
    stdout, stderr : str
    seconds : float
    noted : str
        What the function that ran in the child noted.
    """

    code: int
    stdout: str
    stderr: str
    seconds: float
    noted: str

    def fault(self) -> str | None:
        """Tell what no command may do, whatever it met."""
        if "Traceback" in self.stderr or (self.code == 1 and _OPENBLAS not in self.stderr):
            return f"traceback: {_short(self.stderr)}"
        if self.code < 0:
            return f"crash: {signal.Signals(-self.code).name}: {_short(self.stderr)}"
        return None

    def lines(self) -> list[str]:
        """Return the lines of the message, without notes and lines of OpenBLAS."""
        without = ("note: ", _OPENBLAS)
        return [line for line in self.stderr.splitlines() if line and not line.startswith(without)]

    def complaint(self, command: str, *names: str) -> str | None:
        """Tell what is wrong with the message of a command that failed: one line, with a name."""
        lines = self.lines()
        if _OPENBLAS in self.stderr and len(lines) <= 1:
            return None
        if len(lines) != 1 or not lines[0].startswith(f"duramen {command}: "):
            return f"wrong: no single line of message: {_short(self.stderr)}"
        if names and not any(name in lines[0] for name in names):
            return f"wrong: the message names none of {names}: {lines[0]}"
        return None


def run_command(
    words: list[str],
    folder: Path,
    *,
    inside: Callable[[], object] | None = None,
    signals: tuple[tuple[float, int], ...] = (),
) -> Ended:
    """Run a command in a forked child.

    Parameters
    ----------
    words : list of str
        Command and options.
    folder : Path
        Working directory.
    inside : callable, optional
        Called in the child before the command; it may return a function to call after it, whose
        text is noted.
    signals : tuple of (float, int)
        Signals for the child, and the seconds after which they are sent, counted from when it
        handles them.
    """
    preload()
    ends = [os.pipe() for _ in range(3)]
    sys.stdout.flush()
    sys.stderr.flush()
    start = time.monotonic()
    pid = os.fork()
    if not pid:
        _be_child(words, folder, inside, [write for _, write in ends])
    for _, write in ends:
        os.close(write)
    texts, code = _followed(pid, [read for read, _ in ends], start, list(signals))
    stdout, stderr, noted = texts
    return Ended(code, stdout, stderr, time.monotonic() - start, noted.removeprefix("!"))


def _be_child(
    words: list[str], folder: Path, inside: Callable[[], object] | None, ends: list[int]
) -> NoReturn:
    """Run the command as the interpreter would, and end the process."""
    code = 1
    try:
        for number in STOPS:  # the tests may run under nohup
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(ends[0], 1)
        os.dup2(ends[1], 2)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.argv = ["duramen", *words]
        after = None if inside is None else inside()
        try:
            _main(ends[2])
            code = 0
        finally:
            for number in (*STOPS, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            if callable(after):
                os.write(ends[2], str(after()).encode())
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _main(ready: int) -> None:
    """Run the command line; say when signals are handled."""
    import duramen.cli

    handled = duramen.cli.stopped_by_signals

    @contextlib.contextmanager
    def telling() -> Iterator[None]:
        with handled():
            os.write(ready, b"!")
            yield

    duramen.cli.stopped_by_signals = telling
    duramen.cli.main()


def _followed(
    pid: int, ends: list[int], start: float, signals: list[tuple[float, int]]
) -> tuple[list[str], int]:
    """Collect what the child says, send it signals when they are due, and wait for its end."""
    texts = dict.fromkeys(ends, b"")
    left, late = set(ends), False
    due = sorted(signals)
    while left:
        now = time.monotonic() - start
        while due and texts[ends[2]] and due[0][0] <= now:
            os.kill(pid, due.pop(0)[1])  # not waited for yet, so the number is still its own
        if now > PATIENCE and not late:
            late = True
            os.kill(pid, signal.SIGKILL)
        wait = min(due[0][0] - now if due and texts[ends[2]] else PATIENCE, 1.0)
        for end in select.select(list(left), [], [], max(wait, 0.0))[0]:
            piece = os.read(end, 1 << 16)
            if end == ends[2] and not texts[end]:
                start = time.monotonic()  # signals are handled from now on
            texts[end] += piece
            if not piece:
                left.remove(end)
                os.close(end)
    _, status = os.waitpid(pid, 0)
    if late:
        texts[ends[1]] += f"\nTraceback of none: no end after {PATIENCE} s".encode()
    return [texts[end].decode("utf-8", "replace") for end in ends], os.waitstatus_to_exitcode(
        status
    )


def tree(folder: Path, *without: str) -> Tree:
    """Return all entries below a folder, with digests of what files hold, without timings."""
    result: Tree = {}
    for place, folders, files in os.walk(folder):
        for name in sorted([*folders, *files]):
            path = Path(place) / name
            key = str(path.relative_to(folder))
            if key in without:
                continue
            if path.is_symlink():
                result[key] = f"link to {os.readlink(path)}"
            elif path.is_dir():
                result[key] = "folder"
            elif path.is_file():
                result[key] = hashlib.sha256(_untimed(path)).hexdigest()[:16]
            else:
                result[key] = "special"
    return result


def below(result: Tree, name: str) -> Tree | None:
    """Return the part of a tree below an entry; None where there is no such entry."""
    if name not in result:
        return None
    return {
        key[len(name) + 1 :]: array for key, array in result.items() if key.startswith(f"{name}/")
    }


def _untimed(path: Path) -> bytes:
    data = path.read_bytes()
    if path.name == "report.html":
        return re.sub(rb"(seconds to [^<]*</dt><dd>)[0-9.e-]+|[0-9.e-]+ s(?=</td>)", rb"\1", data)
    if path.name == "run.json":
        try:
            return json.dumps({**json.loads(data), "timings": None}).encode()
        except ValueError:
            return data
    return data


@dataclass(frozen=True)
class Uninterrupted:
    """A command that nothing stops.

    Attributes
    ----------
    left : dict
        What it leaves.
    seconds : float
        How long it takes.
    operations : int
        How many operations on files it does.
    """

    left: Tree
    seconds: float
    operations: int


@functools.cache
def uninterrupted(command: str, prior: bool) -> Uninterrupted:
    """Run a command that nothing stops."""
    from tests.faults.operations import Cut

    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    try:
        prepare(folder, command, prior)
        options = words_of(command, *overwriting(command, prior))
        done = run_command(options, folder, inside=Cut().inside(folder))
        if done.code:
            raise RuntimeError(f"{command} fails by itself: {done.stderr}")
        return Uninterrupted(tree(folder), done.seconds, int(done.noted))
    finally:
        shutil.rmtree(folder)


def prepare(folder: Path, command: str, prior: bool) -> None:
    """Put the table into a folder and, with `prior`, results of another run and other files."""
    shutil.copy2(tables_folder() / TABLE, folder)
    if not prior:
        return
    out = folder / OUT
    if command == "pack":
        shutil.copytree(_other_store(), out)
        return
    (out / "mine").mkdir(parents=True)
    (out / "mine" / "thesis.txt").write_text("mine")
    (out / "notes.txt").write_text("mine")
    (out / "run.json").write_text("{}")


@functools.cache
def _other_store() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    done = run_command(
        ["pack", str(tables_folder() / "other.csv"), "--jobs", "1", "--out", OUT], folder
    )
    if done.code:
        raise RuntimeError(f"pack fails by itself: {done.stderr}")
    return folder / OUT


def overwriting(command: str, prior: bool) -> list[str]:
    """Return the option with which `pack` replaces a store, where there is one."""
    return ["--overwrite"] if command == "pack" and prior else []


def differences(result: Tree, wanted: Tree) -> str:
    """Tell in which entries two trees differ; empty where they do not."""
    keys = [key for key in sorted({*result, *wanted}) if result.get(key) != wanted.get(key)]
    lines = [
        f"{'-' if key not in result else '+' if key not in wanted else '!'}{key}" for key in keys
    ]
    return " ".join(lines[:12])


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) < 500 else f"{words[:60]} ... {words[-420:]}"
