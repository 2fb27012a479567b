"""Growth on worker processes: scaling, and the cost of killed processes.

``python -m benchmarks.speed.cluster speed`` runs a permutation test on one worker process and on
two, of a thread each, in interleaved pairs; on a machine with nothing else.
``python -m benchmarks.speed.cluster kills`` kills workers, schedulers and clients of a ranking at
random times, resumes it, and compares the bytes of its results with those of an undisturbed run;
exit status 1 where any differ.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import duramen as dm

KEEPING = """
from duramen.cli import main
from duramen.jobs import replicates
replicates._INTERVAL = 0.0
main()
"""
LINE = "rank table.csv --target y --trees 300 --permutations 300 --quiet --seed 3"
VICTIMS = ("worker", "scheduler", "client")


def workloads() -> dict[str, Callable[..., Any]]:
    """Return calls that take a client."""
    random = np.random.default_rng(0)
    tall = random.normal(size=(50_000, 50)).round(3)
    y = tall[:, 0] + tall[:, 1] * tall[:, 2] + random.normal(size=len(tall)) > 0
    wide, z = tall[:500, :].repeat(8, axis=1), y[:500]
    small = dm.RandomForestClassifier(500)
    return {
        "max-T, 200 permutations, 500 x 400": lambda client: dm.significance.max_t(
            small, wide, z, n_permutations=200, random_state=1, client=client
        ),
    }


def speed(pairs: int) -> int:
    """Print the speedup of two workers over one."""
    from distributed import Client

    print("| work | one worker, s | two workers, s | ratio |\n| --- | --- | --- | --- |")
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    for name, call in workloads().items():
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(pairs):
            for workers, times in seconds.items():
                with Client(n_workers=workers, processes=True, **options) as client:
                    client.run(lambda: __import__("duramen").encode([[0.0]]))  # imports
                    start = time.perf_counter()
                    call(client)
                    times.append(time.perf_counter() - start)
        first, second = (statistics.median(seconds[workers]) for workers in (1, 2))
        print(f"| {name} | {first:.1f} | {second:.1f} | {first / second:.2f} |", flush=True)
    return 0


def started(folder: Path, *words: Any) -> subprocess.Popen[str]:
    """Start a program in a folder."""
    return subprocess.Popen(
        list(map(str, words)),
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def ranking(folder: Path, *words: Any) -> subprocess.Popen[str]:
    """Start the ranking, which saves each finished job."""
    return started(folder, sys.executable, "-c", KEEPING, *LINE.split(), *words)


def crew(folder: Path) -> tuple[Path, list[subprocess.Popen[str]]]:
    """Start a scheduler and two workers."""
    dask = Path(sys.executable).with_name("dask")
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    alone = ["--no-dashboard", "--scheduler-file", file]
    programs = [started(folder, dask, "scheduler", "--port", "0", *alone)]
    while not file.exists():
        time.sleep(0.05)
    programs += [started(folder, dask, "worker", *alone, "--nthreads", "1") for _ in range(2)]
    return file, programs


def attempt(folder: Path, victim: str, delay: float) -> tuple[bool, bytes]:
    """Kill a victim so long after the first job was kept; return whether it came in time."""
    file, programs = crew(folder)
    checkpoint = folder / "kept"
    checkpoint.unlink(missing_ok=True)
    words = ["--checkpoint", checkpoint, "--out", folder / "out"]
    try:
        running = ranking(folder, *words, "--scheduler", file)
        while not checkpoint.exists() and running.poll() is None:
            time.sleep(0.02)
        time.sleep(delay)
        in_time = running.poll() is None
        {"scheduler": programs[0], "worker": programs[1], "client": running}[victim].kill()
        running.communicate(timeout=300)
        if running.returncode != 0:
            again = ranking(folder, *words)
            _, said = again.communicate(timeout=300)
            if again.returncode:
                raise RuntimeError(f"the ranking does not resume: {said}")
    finally:
        for program in programs:
            program.kill()
            program.communicate()
    return in_time, (folder / "out" / "result.csv").read_bytes()


def kills(number: int) -> int:
    """Kill, resume and compare; return 1 where any result is lost or wrong."""
    random = np.random.default_rng(0)
    wrong, late = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = pd.DataFrame(random.normal(size=(80, 6)).round(2), columns=list("abcdef"))
        table["y"] = np.where(table["a"] + random.normal(size=80) > 0, "yes", "no")
        table.to_csv(folder / "table.csv", index=False)
        ranking(folder, "--out", folder / "undisturbed").communicate()
        expected = (folder / "undisturbed" / "result.csv").read_bytes()
        for i in range(number):
            victim = VICTIMS[i % len(VICTIMS)]
            in_time, result = attempt(folder, victim, float(random.uniform(0, 1.5)))
            late += not in_time
            wrong += result != expected
            print(
                f"{i + 1}: {victim}, {'same' if result == expected else 'OTHER'} bytes", flush=True
            )
    print(f"{number} kills, {late} after the end of the work, {wrong} results lost or wrong")
    return int(wrong > 0)


def main() -> int:
    """Run the benchmark named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.cluster", description=__doc__)
    parser.add_argument("what", choices=("speed", "kills"))
    parser.add_argument("--pairs", type=int, default=3, help="rounds of speed")
    parser.add_argument("--number", type=int, default=40, help="number of kills")
    asked = parser.parse_args()
    return speed(asked.pairs) if asked.what == "speed" else kills(asked.number)


if __name__ == "__main__":
    sys.exit(main())
