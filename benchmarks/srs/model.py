"""The search against its model: Tables 1a to 1c of the SRS paper, real trees, and rounds.

``python -m benchmarks.srs.model`` prints three tables.

* Settings of Table 1: the exact expectation of the number of trees until all relevant features are
  found, and its simulation under the simplified growth of the papers.
* Real trees (Extra-Trees, all q features candidates) in real searches, on the distribution itself:
  every row that has a probability is there, and irrelevant features are constant, so that whatever
  has an importance is relevant. Then on samples, where irrelevant features are random bits and a
  test decides.
* Rounds: trees until all of a chain is found, by the number of trees of a round.

The chain: Y is X1, X1 xor X2, ... or the xor of all, each as likely; the clique: the xor of all;
marginal features: Y is one of them, each as likely.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from duramen.forests import GrowthSettings
from duramen.jobs.replicates import Plan, run_jobs
from duramen.selection.subspace_search import (
    DecoyTest,
    Evidence,
    Grower,
    RelevanceTest,
    Search,
    SubspaceSearch,
)
from duramen.theory import expected_trees
from duramen.theory.subspaces import simulate
from duramen.theory.subspaces.convergence import kept_places

TABLE = [
    ("chain", 10_000, 100, 1),
    ("chain", 10_000, 100, 2),
    ("chain", 10_000, 100, 3),
    ("chain", 10_000, 100, 5),
    ("chain", 100_000, 100, 3),
    ("clique", 10_000, 100, 1),
    ("clique", 10_000, 100, 2),
    ("clique", 10_000, 1000, 4),
    ("marginal", 10_000, 100, 10),
    ("marginal", 10_000, 100, 50),
    ("marginal", 10_000, 100, 90),
    ("marginal", 10_000, 100, 100),
    ("marginal", 25_000, 100, 50),
]
# Expectations that are too large to simulate.
MOST = 200_000
# Trees of a search on a sample.
LONGEST = 1000
SMALL = [("chain", 200, 40, 3), ("clique", 120, 40, 3), ("marginal", 200, 40, 6)]
ROUNDS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Positive:
    """Test on the distribution: every feature with a positive importance is relevant."""

    n_probes: ClassVar[int] = 0
    decoy: ClassVar[bool] = False

    def passes(self, evidence: Evidence) -> NDArray[np.bool_]:
        passed: NDArray[np.bool_] = evidence.total > 1e-9  # rounding aside
        return passed


def distribution(scenario: str, r: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every row that has a probability, all of them as likely: bits of shape (n, r), and Y."""
    bits = np.array(list(itertools.product((0, 1), repeat=r)))
    if scenario == "clique":
        return bits, bits.sum(axis=1) % 2
    said = bits.cumsum(axis=1) % 2 if scenario == "chain" else bits
    return np.repeat(bits, r, axis=0), said.reshape(-1)


def population(scenario: str, p: int, r: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distribution with constants beside the relevant features: X of p columns, and Y."""
    bits, y = distribution(scenario, r)
    return np.hstack([bits, np.zeros((len(y), p - r), dtype=np.int64)]), y


def sample(
    scenario: str, p: int, r: int, n: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows drawn from it, with random bits beside the relevant features."""
    rows, y = distribution(scenario, r)
    random = np.random.default_rng(seed)
    some = random.integers(0, len(y), n)
    return np.hstack([rows[some], random.integers(0, 2, (n, p - r))]), y[some]


def searched(
    X: NDArray[Any], y: NDArray[Any], r: int, q: int, keep: float, batch: int, seed: int,
    test: RelevanceTest, most: int, criterion: str = "entropy",
) -> SubspaceSearch:  # fmt: skip
    """A search until the first r features are all found, or for `most` trees."""
    data = dm.learning_set(X, y, task="classification")
    settings = GrowthSettings(criterion=criterion, cut="random", max_features=q)
    grower = Grower(data, settings, test.n_probes, test.decoy, seed)
    search = Search(most, q, kept_places(q, keep), batch=batch, patience=None)
    course = SubspaceSearch(grower, search, test)

    def ready(trees: list[dict[str, NDArray[Any]]]) -> int:
        """Return the number of trees to grow now: none after all relevant features are found."""
        until = course.ready(trees)
        return len(trees) if course.member[:r].all() else until

    run_jobs(
        grower, most, seed=seed, identity={}, plan=Plan(), function="model", decided=course.take,
        ready=ready, arguments=course.arguments,
    )  # fmt: skip
    return course


def trees_until_found(*arguments: Any) -> int:
    """Return the number of trees of a search; the arguments are those of `searched`."""
    return len(searched(*arguments).sizes)


def mean(values: list[int]) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.1f} +- {error:.1f}"


def table_1(replicates: int) -> None:
    print("| scenario | p, q, r | alpha | exact | simulated | standard errors apart |")
    print("| --- | --- | --- | --- | --- | --- |")
    for number, (scenario, p, q, r) in enumerate(TABLE):
        for keep in (0, 1):
            scenario_settings: dict[str, Any] = {
                "n_features": p,
                "subspace": q,
                "n_relevant": r,
                "keep": keep,
            }
            exact = expected_trees(scenario, **scenario_settings)
            row = f"| {scenario} | {p}, {q}, {r} | {keep} | {exact:.6g} |"
            if exact > MOST:
                print(f"{row} not simulated | |")
                continue
            run = simulate(
                scenario,
                **scenario_settings,
                n_trees=int(20 * exact),
                n_repeats=replicates if exact > 5000 else 5 * replicates,
                random_state=2 * number + keep,
            )
            average, error = run.expected_trees()
            print(f"{row} {average:.6g} +- {error:.2g} | {(average - exact) / error:+.1f} |")


def real_trees(replicates: int) -> None:
    print("\n| scenario | p, q, r | alpha | model | real trees, distribution | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for scenario, p, q, r in SMALL:
        X, y = population(scenario, p, r)
        for keep in (0, 1):
            exact = expected_trees(scenario, n_features=p, subspace=q, n_relevant=r, keep=keep)
            results = [
                trees_until_found(X, y, r, q, keep, 1, seed, Positive(), int(30 * exact))
                for seed in range(replicates)
            ]
            print(
                f"| {scenario} | {p}, {q}, {r} | {keep} | {exact:.1f} | {mean(results)} | "
                f"{np.mean(results) / exact:.2f} |",
                flush=True,
            )


def samples(replicates: int) -> None:
    print("\n| scenario | rows | alpha | model | trees | all found in | found, of r | others |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for scenario, p, q, r in SMALL:
        for n, keep in itertools.product((500, 2000), (0, 1)):
            exact = expected_trees(scenario, n_features=p, subspace=q, n_relevant=r, keep=keep)
            courses = []
            for seed in range(replicates):
                X, y = sample(scenario, p, r, n, seed)
                courses.append(
                    searched(X, y, r, q, keep, 1, seed, DecoyTest(0.05), LONGEST, "gini")
                )
            right = np.array([course.member[:r].sum() for course in courses])
            others = np.mean([course.member[r:].sum() for course in courses])
            print(
                f"| {scenario} | {n} | {keep} | {exact:.1f} "
                f"| {mean([len(course.sizes) for course in courses])} | {np.mean(right == r):.2f} "
                f"| {right.mean():.1f} of {r} | {others:.1f} |",
                flush=True,
            )


def rounds(replicates: int) -> None:
    print("\n| trees a round | p / q = 5 | p / q = 50 |")
    print("| --- | --- | --- |")
    for batch in ROUNDS:
        cells = []
        for p in (200, 2000):
            X, y = population("chain", p, 3)
            results = [
                trees_until_found(X, y, 3, 40, 1, batch, seed, Positive(), 100_000)
                for seed in range(replicates)
            ]
            cells.append(mean(results))
        print(f"| {batch} | " + " | ".join(cells) + " |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.srs.model", description=__doc__)
    parser.add_argument("--replicates", type=int, default=400)
    options = parser.parse_args()
    table_1(options.replicates)
    real_trees(options.replicates)
    samples(options.replicates // 10)
    rounds(options.replicates)
    return 0


if __name__ == "__main__":
    sys.exit(main())
