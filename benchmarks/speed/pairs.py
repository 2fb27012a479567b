"""Two versions of the package timed in pairs of successive operations.

Processor time of one process differs from that of another by more than most changes do: pages that
an allocator keeps or gives back, where code and data happen to lie. So several pairs of processes
are started, one after the other; in each, both versions run an operation in turn, in an order that
alternates, and the median of the ratios is that of the pair. The figure is the geometric mean over
the pairs of processes, with the smallest and the largest beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 1.05

Operation = Callable[[], Any]


def use(src: Path) -> None:
    """Import the package from the folder `src`, even if another version is installed.

    Raises
    ------
    RuntimeError
        If another one is imported: the ratio of a version to itself says nothing.
    """
    if src != Path(__file__).resolve().parents[2] / "src":
        sys.meta_path[:] = [f for f in sys.meta_path if "Redirecting" not in type(f).__name__]
    sys.path.insert(0, str(src))
    import duramen

    if not Path(duramen.__file__).resolve().is_relative_to(src):
        raise RuntimeError(f"benchmarks: {src} was to be timed, {duramen.__file__} is imported")


def serve(operations: dict[str, Operation]) -> None:
    """Run the operations that are named on standard input, one a line, and print their times."""
    print(json.dumps(list(operations)), flush=True)
    for line in sys.stdin:
        run = operations[line.strip()]
        cpu, wall = time.process_time(), time.perf_counter()
        run()
        taken = [time.process_time() - cpu, time.perf_counter() - wall]
        print(json.dumps(taken), flush=True)


class Version:
    """A process that runs operations with the package in the folder `src`."""

    def __init__(self, module: str, src: Path, words: list[str]) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *words, "--serve", str(src)],
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, **threads},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names: list[str] = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"benchmarks: the timed process ended ({self._process.wait()})")
        return json.loads(line)

    def run(self, name: str) -> list[float]:
        """Processor and wall-clock seconds of an operation."""
        assert self._process.stdin is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        taken: list[float] = self._answer()
        return taken

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def timed(versions: list[Version], name: str, rounds: int) -> Any:
    """Times of an operation, of shape (rounds, versions, 2), after one run that is not timed."""
    taken = np.empty((rounds, len(versions), 2))
    for version in versions:
        version.run(name)
    for k in range(rounds):
        order = range(len(versions)) if k % 2 else reversed(range(len(versions)))
        for i in order:
            taken[k, i] = versions[i].run(name)
    return taken


def table(taken: dict[str, list[Any]], limit: float) -> int:
    """Print the times and ratios; return the number of ratios above the limit."""
    paired = next(iter(taken.values()))[0].shape[1] > 1
    more = " | ratio, processor | of pairs | ratio, wall" if paired else ""
    print(f"| operation | processor, s | wall, s{more} |")
    print("| --- | --- | ---" + " | --- | --- | ---" * paired + " |")
    above = 0
    for name, pairs in taken.items():
        every = np.concatenate(pairs)
        cells = [f"{statistics.median(every[:, 0, c]):.3g}" for c in range(2)]
        if paired:
            ratios = np.array([np.median(pair[:, 0] / pair[:, 1], axis=0) for pair in pairs])
            mean = np.exp(np.log(ratios).mean(axis=0))
            low, high = ratios[:, 0].min(), ratios[:, 0].max()
            cells += [f"{mean[0]:.3f}", f"{low:.3f} to {high:.3f}", f"{mean[1]:.3f}"]
            above += bool(mean[0] > limit)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return above


def run(
    module: str,
    description: str,
    operations: Callable[[Path, Path], dict[str, Operation]],
    make_inputs: Callable[[Path], None] = lambda folder: None,
) -> int:
    """Run a benchmark from its command line.

    Parameters
    ----------
    module : str
        Its name, for ``python -m``.
    description : str
        Text of its help.
    operations : callable
        Operations by name, of the folder of the inputs and of one that is the version's own.
    make_inputs : callable
        Writes into an empty folder what both versions read.
    """
    parser = argparse.ArgumentParser(prog=module, description=description)
    parser.add_argument("--dir", type=Path, required=True, help="place for files")
    parser.add_argument("--against", type=Path, help="folder src of another version")
    parser.add_argument("--pairs", type=int, default=5, help="pairs of processes")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each pair")
    parser.add_argument("--limit", type=float, default=LIMIT, help="largest ratio for exit code 0")
    parser.add_argument(
        "--only", default="", help="operations whose names match this regular expression"
    )
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--own", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.dir.resolve()
    if options.serve is not None:
        use(options.serve)
        options.own.mkdir(exist_ok=True)
        serve(operations(folder, options.own))
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        make_inputs(folder)
    sources = [Path(__file__).resolve().parents[2] / "src"]
    sources += [] if options.against is None else [options.against.resolve()]
    n_pairs = options.pairs if len(sources) > 1 else 1
    taken: dict[str, list[Any]] = {}
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {n_pairs} pairs of")
    print(f"processes, {options.rounds} rounds each\n")
    for _ in range(n_pairs):
        versions = []
        try:
            for i, src in enumerate(sources):
                words = ["--dir", str(folder), "--own", str(folder / f"version{i}")]
                versions.append(Version(module, src, words))
            for name in versions[0].names:
                if re.search(options.only, name):
                    taken.setdefault(name, []).append(timed(versions, name, options.rounds))
        finally:
            for version in versions:
                version.close()
    return int(table(taken, options.limit) > 0)
