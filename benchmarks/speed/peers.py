"""duramen against its peers: interleaved pairs, one thread each.

``python -m benchmarks.speed.peers --help`` lists the options; README.md says how to read the table.
A pair is one fit of each side, right after one another and in an order that alternates, so that
what slows the machine down slows both; the ratio is the median over the pairs of a case.
"""

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.speed import cases, memory, ranger

PEER = "scikit-learn"
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}


@dataclass(frozen=True)
class Plan:
    """Effort of the measurement."""

    rounds: int
    scale: float
    """Share of its trees the peer grows; the rest of its time is extrapolated."""
    clock: str
    memory: bool
    ranger: bool


@dataclass(frozen=True)
class Row:
    """Results of a case: seconds of a whole fit, and bytes."""

    case: str
    bar: float
    duramen: float
    peer: float
    peer_trees: int
    ratio: float
    ratios: tuple[float, ...]
    memory: memory.Memory | None
    peer_memory: memory.Memory | None
    ranger: float | None

    @property
    def fast(self) -> bool:
        return self.ratio >= self.bar

    @property
    def small(self) -> bool:
        if self.memory is None or self.peer_memory is None:
            return True
        return self.memory.peak < self.peer_memory.peak


def seconds(side: str, case: cases.Case, n_trees: int, seed: int, clock: str) -> float:
    """The time of one fit."""
    now = CLOCKS[clock]
    gc.collect()
    start = now()
    cases.fit(side, case, n_trees, seed)
    return now() - start


def peer_trees(case: cases.Case, scale: float) -> int:
    """The trees the peer grows when its side is scaled down; never fewer than ten."""
    return min(case.n_trees, max(10, round(case.n_trees * scale)))


def peer_seconds(case: cases.Case, n_trees: int, seed: int, clock: str) -> float:
    """The peer's time for all its trees, from ``n_trees`` of them.

    Where it grows fewer, what a forest of one tree takes is counted once and only the rest is
    scaled up, or its checks of the input would count as often as the trees were scaled.
    """
    measured = seconds(PEER, case, n_trees, seed, clock)
    if n_trees == case.n_trees:
        return measured
    single_tree = seconds(PEER, case, 1, seed, clock)
    return single_tree + (measured - single_tree) * (case.n_trees - 1) / (n_trees - 1)


def run(case: cases.Case, plan: Plan) -> Row:
    """Warm both sides up, time the pairs, then weigh both."""
    trees = peer_trees(case, plan.scale)
    for side in ("duramen", PEER):
        cases.fit(side, case, 2, seed=0)
    ours, theirs = [], []
    for number in range(plan.rounds):
        sides = ["duramen", PEER] if number % 2 == 0 else [PEER, "duramen"]
        for side in sides:
            if side == PEER:
                theirs.append(peer_seconds(case, trees, number, plan.clock))
            else:
                ours.append(seconds(side, case, case.n_trees, number, plan.clock))
    ratios = tuple(b / a for a, b in zip(ours, theirs, strict=True))
    return Row(
        case=case.name,
        bar=case.bar,
        duramen=statistics.median(ours),
        peer=statistics.median(theirs),
        peer_trees=trees,
        ratio=statistics.median(ratios),
        ratios=ratios,
        memory=memory.of_fit("duramen", case, trees) if plan.memory else None,
        peer_memory=memory.of_fit(PEER, case, trees) if plan.memory else None,
        ranger=ranger.seconds(case, case.n_trees, 1) if plan.ranger else None,
    )


def header() -> str:
    return (
        "| case | duramen, s | scikit-learn, s | ratio (lowest to highest) | bar | speed "
        "| peak, MiB: duramen | scikit-learn | memory | ranger, s (ratio) |\n" + "| --- " * 10 + "|"
    )


def line(row: Row, n_trees: int) -> str:
    """A row of the table; ~ marks a time extrapolated from fewer trees."""
    about = "" if row.peer_trees == n_trees else "~"
    cells = [
        row.case,
        f"{row.duramen:.3f}",
        f"{about}{row.peer:.2f}",
        f"{about}{row.ratio:.1f} ({min(row.ratios):.1f} to {max(row.ratios):.1f})",
        f"{row.bar:g}",
        "pass" if row.fast else "FAIL",
        mebibytes(row.memory),
        mebibytes(row.peer_memory),
        "-" if row.memory is None else "pass" if row.small else "FAIL",
        "-" if row.ranger is None else f"{row.ranger:.2f} ({row.ranger / row.duramen:.1f})",
    ]
    return "| " + " | ".join(cells) + " |"


def mebibytes(measured: memory.Memory | None) -> str:
    if measured is None:
        return "-"
    return f"{measured.peak / 2**20:.0f} (fit {measured.growth / 2**20:.0f})"


def conditions(plan: Plan, ranger_version: str | None) -> list[str]:
    """Return lines on the versions and the machine of the measurement."""
    versions = [f"{p} {importlib.metadata.version(p)}" for p in ("duramen", "scikit-learn")]
    versions += [f"ranger {ranger_version}"] if plan.ranger else []
    lines = [
        f"{', '.join(versions)}; Python {platform.python_version()}; {processor()}; "
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors",
        f"medians of {plan.rounds} interleaved pairs, {plan.clock} clock, one thread a side, "
        "whole fit with encoding and feature_importances_",
    ]
    if plan.scale < 1:
        lines.append(
            f"~ scikit-learn grew {plan.scale:.0%} of the trees (ten at least): its time is that "
            "of one tree plus the rest scaled up; memory is with as few trees on both sides"
        )
    return lines


def processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    names = [entry.split(":")[1].strip() for entry in text.splitlines() if "model name" in entry]
    return names[0] if names else platform.machine()


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.speed.peers", description=__doc__)
    parser.add_argument("--cases", default="", help='only cases whose name has this ("ET, K=p")')
    parser.add_argument("--rounds", type=int, default=5, help="pairs a case (5)")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="share of its trees the peer grows"
    )
    parser.add_argument("--quick", action="store_true", help="--rounds 3 --scale 0.1")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    parser.add_argument("--no-memory", action="store_true", help="leave the peaks of memory out")
    parser.add_argument("--no-ranger", action="store_true", help="leave ranger out")
    parser.add_argument("--out", type=Path, help="write all figures there as JSON")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Print the table; exit status 1 where a bar was missed."""
    options = parse(arguments)
    chosen = [case for case in cases.CASES if options.cases in case.name]
    if options.list or not chosen:
        print("\n".join(case.name for case in (chosen or cases.CASES)))
        return 0 if options.list else 2
    installed = None if options.no_ranger else ranger.version()
    plan = Plan(
        rounds=3 if options.quick else options.rounds,
        scale=0.1 if options.quick else options.scale,
        clock=options.clock,
        memory=not options.no_memory,
        ranger=installed is not None,
    )
    print(*conditions(plan, installed), "", header(), sep="\n", flush=True)
    rows = []
    for case in chosen:
        rows.append(run(case, plan))
        print(line(rows[-1], case.n_trees), flush=True)
    missed = sum(not (row.fast and row.small) for row in rows)
    print(f"\n{len(rows) - missed} of {len(rows)} cases meet both bars")
    if options.out:
        options.out.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
