"""Error rates of the default test where some features are relevant and others are not.

``python -m benchmarks.error_rates.partial_nulls --out DIR`` runs the default test of `duramen rank`
on data sets of the settings below. In each some features are relevant, and the others are
independent of the target and of the relevant ones, so that whatever is found of them is false. A
setting ends after 100 data sets if at most .02 of them have a false confirmation and the mean
fraction of false features among the found ones (confirmed or candidates) is at most .02; else it
goes on to 400.

The table has, for each setting, the fraction of data sets in which anything irrelevant is confirmed
(family-wise error rate) and found, the mean fraction of irrelevant features among the found ones
(false discovery rate) with its standard error, the mean fractions of the relevant features that are
confirmed and found, the fraction of results with a note, and a verdict. A setting holds if the rate
of false confirmations is at most the upper end of the 99 % band of a binomial count of probability
.05, and the false discovery rate at most .05 + 2.58 standard errors. Exit status 1 where one does
not hold. A run that was killed goes on from its files in DIR; ``--data-sets`` may change between
runs. ``--trees 100 --permutations 39`` is seven times as fast as the forests of the command; a
level is to hold for any number of both. ``--model boosting`` or ``linear`` refits this model in
place of forests; the settings whose names begin with "no signal" have no relevant feature.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.defaults.default_test import LEVEL, MODELS, PERMUTATIONS, default_result
from benchmarks.designs import simulated as sim
from benchmarks.designs.simulated import Draw, problem
from duramen.jobs.replicates import Plan, run_replicates
from duramen.support.arrays import FloatArray

FIRST, MOST = 100, 400
ENOUGH = 0.02  # of false confirmations and of false features among found ones
RATES = (
    *("false_confirmed", "false_found", "fdr"),
    *("confirmed", "found", "note", "seconds"),
)
GINI = {"criterion": "gini"}


@dataclass(frozen=True)
class Setting:
    """A problem, and options of the forest that differ from those of `duramen rank`."""

    draw: Draw
    growth: Mapping[str, Any] = field(default_factory=dict)


def in_copies(r: float, response: Any) -> Draw:
    """Two relevant features, six with correlation r and six independent ones."""
    return problem(300, sim.linear([1.0, 1.0], response), sim.alike([6, *[1] * 6], r))


def in_shape(n: int, p: int, response: Any = sim.classes) -> Draw:
    """Return a problem with three relevant of p normal features."""
    return problem(n, sim.linear([1.2, 1.2, 1.2], response), sim.normal(p - 3))


FACTORIAL: dict[str, Draw] = {
    "2 classes": problem(192, sim.factorial([2, 2, 2], lambda X: X.sum(axis=1) > 1), sim.normal(8)),
    "3 classes": problem(192, sim.factorial([3, 3], lambda X: X.min(axis=1)), sim.normal(8)),
    "6 classes": problem(192, sim.factorial([2, 3]), sim.normal(8)),
    "12 classes": problem(192, sim.factorial([2, 3, 2]), sim.normal(8)),
    "24 classes": problem(192, sim.factorial([2, 3, 2, 2]), sim.normal(8)),
    "50 classes": problem(300, sim.factorial([5, 5, 2]), sim.normal(8)),
    "100 classes": problem(400, sim.factorial([5, 5, 4]), sim.normal(8)),
}
TWO = sim.linear([1.0, 1.0])
NUMBERS = sim.linear([1.0, 1.0], sim.numbers)
RARE = sim.linear([1.0, 1.0], sim.rare)
NORMAL = sim.normal(8)

SETTINGS: dict[str, Setting] = {
    **{f"{name}, entropy": Setting(draw) for name, draw in FACTORIAL.items()},
    **{f"{name}, Gini": Setting(draw, GINI) for name, draw in FACTORIAL.items()},
    "weights: case-control": Setting(
        problem(200, TWO, NORMAL, sim.by_class(case=0.1, control=1.9))
    ),
    "weights: case-control, Gini": Setting(
        problem(200, TWO, NORMAL, sim.by_class(case=0.1, control=1.9)), GINI
    ),
    "weights: balancing": Setting(problem(300, RARE, NORMAL, sim.balancing)),
    "weights: balancing, Gini": Setting(problem(300, RARE, NORMAL, sim.balancing), GINI),
    "weights: --class-weight": Setting(problem(300, RARE, NORMAL), {"class_weight": "balanced"}),
    "weights: inverse probability": Setting(problem(200, NUMBERS, NORMAL, sim.inverse_probability)),
    "weights: relevant feature": Setting(problem(200, TWO, NORMAL, sim.by_feature)),
    "weights: relevant, regression": Setting(problem(200, NUMBERS, NORMAL, sim.by_feature)),
    "survival": Setting(problem(200, sim.linear([0.8, 0.8], sim.survival), NORMAL)),
    "survival: copies, r = .95": Setting(
        problem(300, sim.linear([1.5, 1.5], sim.survival), sim.alike([6], 0.95))
    ),
    "survival: 85 % censored": Setting(
        problem(300, sim.linear([0.8, 0.8], partial(sim.survival, scale=0.12)), NORMAL)
    ),
    **{f"copies, r = {r}": Setting(in_copies(r, sim.classes)) for r in (0.5, 0.8, 0.9, 0.99)},
    **{
        f"copies, r = {r}, regression": Setting(in_copies(r, sim.numbers))
        for r in (0.5, 0.8, 0.9, 0.99)
    },
    "30 levels": Setting(problem(200, TWO, sim.together(sim.nominal(4, 30), sim.normal(4)))),
    "30 levels, regression": Setting(
        problem(200, NUMBERS, sim.together(sim.nominal(4, 30), sim.normal(4)))
    ),
    "2, 4, 20 and all values": Setting(problem(200, TWO, sim.mixed(12))),
    "many values beside relevant bits": Setting(
        problem(200, sim.linear([0.8, 0.8], columns=sim.bits(2)), sim.normal(8))
    ),
    "missing in noise": Setting(problem(200, TWO, sim.with_missing(NORMAL, 0.3))),
    "missing by another noise column": Setting(problem(200, TWO, sim.missing_at_random(8))),
    "dominant, R2 = .99": Setting(
        problem(200, sim.linear([10.0, 0.7], partial(sim.numbers, sd=0.7)), NORMAL)
    ),
    "dominant, nearly deterministic": Setting(problem(200, sim.deterministic, NORMAL)),
    "variance by a feature": Setting(problem(200, sim.spread, NORMAL)),
    "Cauchy errors": Setting(problem(200, sim.linear([3.0, 3.0], sim.cauchy), NORMAL)),
    "log-normal target": Setting(problem(200, sim.linear([1.0, 1.0], sim.lognormal), NORMAL)),
    "t errors, 2 df": Setting(problem(200, sim.linear([1.5, 1.5], sim.student), NORMAL)),
    "outlying rows": Setting(
        problem(200, sim.linear([1.0, 1.0], sim.contaminated), sim.outlying(NORMAL, 4, 30.0))
    ),
    "heavy-tailed noise": Setting(problem(200, TWO, sim.heavy(8))),
    "counts, zero-inflated target": Setting(
        problem(200, sim.linear([0.7, 0.7], sim.zero_inflated), sim.counts(8))
    ),
    "counts, classes": Setting(problem(200, TWO, sim.counts(8))),
    "exclusive or": Setting(problem(200, sim.parity(2, 0.05), sim.bits(14))),
    "exclusive or, Gini": Setting(problem(200, sim.parity(2, 0.05), sim.bits(14)), GINI),
    "parity of 3": Setting(problem(300, sim.parity(3), sim.bits(9))),
    "SNPs in LD": Setting(
        problem(200, sim.linear([1.0, 1.0, 1.0], columns=sim.alleles(3)), sim.genotypes(60))
    ),
    "5 % in one class": Setting(problem(400, RARE, NORMAL)),
    "20 x 6": Setting(in_shape(20, 6)),
    "20 x 6, regression": Setting(in_shape(20, 6, sim.numbers)),
    "40 x 500": Setting(in_shape(40, 500)),
    "100 x 200": Setting(in_shape(100, 200)),
    "100 x 200, regression": Setting(in_shape(100, 200, sim.numbers)),
    "300 x 50": Setting(in_shape(300, 50)),
    "1000 x 20": Setting(in_shape(1000, 20)),
    "1000 x 20, regression": Setting(in_shape(1000, 20, sim.numbers)),
    "duplicated rows, groups": Setting(sim.with_rows(problem(80, TWO, NORMAL), (1, 4))),
    "families, groups": Setting(sim.in_families(60, 3, 8, 0.6)),
    "centers, strata": Setting(sim.in_strata(200, 8, 1.0)),
    "no signal, 60 x 5": Setting(problem(60, sim.linear([]), sim.normal(5))),
    "no signal, categories, 60 x 5": Setting(
        problem(60, sim.linear([]), sim.together(sim.nominal(3, 3), sim.normal(2)))
    ),
    "grades as numbers": Setting(problem(200, sim.linear([1.0, 1.0], sim.grades), NORMAL)),
    "grades as classes": Setting(problem(200, sim.linear([1.0, 1.0], sim.grade_names), NORMAL)),
}


def task_of(
    setting: Setting, trees: int | None, permutations: int, model: str | None = None
) -> Callable[[int, int], FloatArray]:
    """The rates of one data set, in the order of `RATES`."""

    def task(_: int, seed: int) -> FloatArray:
        drawn = setting.draw(np.random.default_rng(seed))
        start = time.process_time()
        size = {"trees": trees, "permutations": permutations, "model": model}
        result = default_result(drawn, seed, **size, **setting.growth)
        seconds = time.process_time() - start
        verdicts, relevant = np.array(result.verdicts(LEVEL)), drawn.relevant
        confirmed, reported = verdicts == "confirmed", verdicts != "noise"
        false = np.count_nonzero(reported & ~relevant)
        return np.array(
            [
                (confirmed & ~relevant).any(),
                false > 0,
                false / max(1, np.count_nonzero(reported)),
                np.count_nonzero(confirmed & relevant) / max(1, np.count_nonzero(relevant)),
                np.count_nonzero(reported & relevant) / max(1, np.count_nonzero(relevant)),
                len(result.notes) > 0,
                seconds,
            ],
            dtype=np.float64,
        )

    return task


def stages(most: int, first: int = FIRST) -> Callable[[FloatArray], int]:
    """Return a function for the number of data sets needed after the finished ones."""

    def needed(done: FloatArray) -> int:
        if len(done) < first:
            return min(first, most)
        rates = dict(zip(RATES, done.mean(axis=0), strict=True))
        more = max(rates["false_confirmed"], rates["fdr"]) > ENOUGH
        return most if more else min(first, most)

    return needed


def replicates(
    name: str,
    setting: Setting,
    trees: int | None,
    permutations: int,
    most: int,
    plan: Plan,
    model: str | None = None,
) -> FloatArray:
    """Return the rates of the data sets that a setting needs."""
    return run_replicates(
        task_of(setting, trees, permutations, model),
        most,
        len(RATES),
        seed=zlib.crc32(name.encode()),  # settings of one shape have data sets of their own
        identity={
            **{"setting": name, "trees": trees, "permutations": permutations},
            **({} if model is None else {"model": model}),
        },
        plan=plan,
        function="partial_nulls",
        ready=stages(most),
        unit="data set",
    )


def verdict(done: FloatArray) -> tuple[float, bool]:
    """The upper end of the 99 % band of false confirmations, and whether both rates hold."""
    n, (confirmed, _, fdr, *_) = len(done), done.mean(axis=0)
    upper = float(stats.binom.interval(0.99, n, LEVEL)[1]) / n
    error = done[:, 2].std(ddof=1) / np.sqrt(n)
    return upper, bool(confirmed <= upper and fdr <= LEVEL + 2.58 * error)


def row(name: str, done: FloatArray) -> str:
    """A line of the table."""
    n, means = len(done), dict(zip(RATES, done.mean(axis=0), strict=True))
    upper, holds = verdict(done)
    error = done[:, 2].std(ddof=1) / np.sqrt(n)
    cells = [
        *(name, str(n), f"{means['false_confirmed']:.3f}", f"{upper:.3f}"),
        *(f"{means['false_found']:.3f}", f"{means['fdr']:.3f} ({error:.3f})"),
        *(f"{means[rate]:.2f}" for rate in ("confirmed", "found", "note", "seconds")),
        "holds" if holds else "**too many**",
    ]
    return f"| {' | '.join(cells)} |"


def lines(names: list[str], run: Callable[[str], FloatArray], missed: list[str]) -> Iterator[str]:
    """The table, line by line; `missed` gets the settings that do not hold."""
    heads = [
        *("setting", "data sets", "any false confirmed", "99 % band up to", "any false found"),
        *("false among found", "confirmed", "found", "notes", "s", "verdict"),
    ]
    yield f"| {' | '.join(heads)} |"
    yield "| --- |" + " --- |" * (len(heads) - 1)
    for name in names:
        done = run(name)
        if not verdict(done)[1]:
            missed.append(name)
        yield row(name, done)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.error_rates.partial_nulls", description=__doc__
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--settings", nargs="*", metavar="NAME", help="names, or their beginnings; all by default"
    )
    parser.add_argument("--data-sets", type=int, default=MOST, help="most of a setting")
    parser.add_argument("--trees", type=int, help="50, fewer of more than 1,000 rows")
    parser.add_argument("--model", choices=MODELS, help="model in place of forests")
    parser.add_argument("--permutations", type=int, default=PERMUTATIONS)
    parser.add_argument("--threads", type=int, default=1, help="data sets at a time")
    parser.add_argument("--list", action="store_true", help="print the names of the settings")
    options = parser.parse_args(arguments)
    names = [n for n in SETTINGS if not options.settings or n.startswith(tuple(options.settings))]
    if not names:
        parser.error(f"--settings: no setting begins with {options.settings}; --list prints them")
    if options.list:
        print(*names, sep="\n")
        return 0
    warnings.simplefilter("ignore")
    options.out.mkdir(parents=True, exist_ok=True)

    def run(name: str) -> FloatArray:
        file = "".join(c if c.isalnum() else "-" for c in name)
        file = f"{file}-{options.model}.npz" if options.model else f"{file}.npz"
        plan = Plan(options.threads, options.out / file)
        size = (options.trees, options.permutations, options.data_sets)
        return replicates(name, SETTINGS[name], *size, plan, options.model)

    missed: list[str] = []
    for line in lines(names, run, missed):
        print(line, flush=True)
    print(f"\n{len(names) - len(missed)} of {len(names)} settings hold")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
