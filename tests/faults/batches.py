"""Attempts to break the package, run in processes of their own, and counted by their outcome."""

from __future__ import annotations

import faulthandler
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.hostile import raw_characters

# Outcomes of an attempt that are as they should be: the input is refused with one error of the
# package, or is read.
REFUSED, READ = "refused", "read"
ALLOWED = (ValueError, OSError)
# Beginnings of messages of h5py and pyarrow, which name neither function nor file.
RAW = ("Unable to ", "Can't ", "Could not ", "Invalid ", "Couldn't ", "CSV parse error")
# Outcomes that are faults: a wrong result, an exit by a signal, a traceback, files that are left.
FAULTS = ("wrong", "crash", "traceback", "leftovers")
# Seconds that one attempt may take, and bytes by which it may raise the peak of the process; the
# first attempt of a kind imports packages.
PATIENCE = 300.0
# A sanitizer keeps shadows of the memory, and what was freed.
ROOM = (2 << 30) if "ASAN_OPTIONS" in os.environ else 400 << 20

Attempt = Callable[[int, Path], str]


@dataclass
class Outcomes:
    """Outcomes of attempts of one kind.

    Attributes
    ----------
    counts : Counter
        Attempts by outcome; those in `FAULTS` are faults.
    faults : list of str
        What went wrong, with the number of the attempt.
    """

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, name: str, outcome: str) -> None:
        """Count an outcome of KIND/NUMBER: a word, or a word and details after a colon."""
        word = outcome.partition(": ")[0]
        self.counts[word] += 1
        if word in FAULTS:
            self.faults.append(f"{name}: {outcome}")

    def __str__(self) -> str:
        return ", ".join(f"{count} {outcome}" for outcome, count in sorted(self.counts.items()))


def run(attempts: Mapping[str, Sequence[int]], *, timeout: float = 300.0) -> dict[str, Outcomes]:
    """Run attempts in one process; one that ends it is counted as a crash, and others go on.

    Parameters
    ----------
    attempts : dict
        Numbers of the attempts, which determine them, by kind: a module of `tests.faults` with a
        function ``attempt(number, folder)``.
    timeout : float
        Seconds that a process may take.
    """
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        os.chmod(folder, 0o711)  # for attempts that become an ordinary user
        return _run(attempts, timeout, {**os.environ, "TMPDIR": folder})


def _run(
    attempts: Mapping[str, Sequence[int]], timeout: float, environment: Any
) -> dict[str, Outcomes]:
    """Run attempts whose temporary files, also of processes that end early, are in one folder."""
    outcomes = {kind: Outcomes() for kind in attempts}
    left = [f"{kind}/{number}" for kind, numbers in attempts.items() for number in numbers]
    while left:
        command = [sys.executable, "-m", "tests.faults.batches", *left]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=timeout, env=environment
            )
            said, code, errors = done.stdout, done.returncode, done.stderr
        except subprocess.TimeoutExpired as late:
            raw = late.stdout or b""
            said, code, errors = raw.decode() if isinstance(raw, bytes) else raw, -1, "timed out"
        lines = [line.split(" ", 2) for line in said.splitlines()]
        for word, name, *rest in lines:
            if word == "ended":
                outcomes[name.partition("/")[0]].add(name, rest[0])
                left.remove(name)
        if not left:
            break
        begun = [name for word, name, *_ in lines if word == "began"]
        if not begun or begun[-1] not in left:
            raise RuntimeError(f"no attempt could be run (exit {code}): {errors[-2000:]}")
        name = begun[-1]
        outcomes[name.partition("/")[0]].add(name, f"crash: exit {code}: {errors[-500:]}")
        left.remove(name)
    return outcomes


def outcome_of(attempt: Attempt, number: int, folder: Path) -> str:
    """Run one attempt; an error that is none of the package's is "wrong"."""
    try:
        return attempt(number, folder)
    except ALLOWED as error:
        text = str(error)
        if not text.strip() or len(text) > 4000:
            return f"wrong: a message of {len(text)} characters"
        if raw := raw_characters(text):
            return f"wrong: {raw!a} in the message {text[:200]!a}"
        package = type(error).__module__.partition(".")[0]
        if package not in ("builtins", "duramen") or text.startswith(RAW):
            return f"wrong: a message of {package} as it came: {text[:300]}"
        return REFUSED
    except Exception as error:
        return f"wrong: {type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _peak() -> int:
    """Return the most memory that this process ever had, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def main() -> None:
    """Run attempts, each a KIND/NUMBER, and tell of each when it begins and how it ends."""
    from importlib import import_module

    for name in sys.argv[1:]:
        kind, _, number = name.partition("/")
        print(f"began {name}", flush=True)
        attempt: Attempt = import_module(f"tests.faults.{kind}").attempt
        with tempfile.TemporaryDirectory() as folder:
            before = _peak()
            faulthandler.dump_traceback_later(PATIENCE, exit=True)
            outcome = " ".join(outcome_of(attempt, int(number), Path(folder)).split())
            faulthandler.cancel_dump_traceback_later()
            if (more := _peak() - before) > ROOM and outcome in (READ, REFUSED):
                outcome = f"wrong: took {more >> 20} MB of memory"
            print(f"ended {name} {outcome}", flush=True)


if __name__ == "__main__":
    main()
