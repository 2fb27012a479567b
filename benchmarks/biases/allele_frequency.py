"""Irrelevant SNPs with frequent minor alleles get more MDI than SNPs with rare alleles.

Genotypes count minor alleles, 0, 1 or 2, by Hardy and Weinberg: all SNPs have the same number of
values, but few rows of a node hold more than one of those of a rare allele (thesis 4.4.5.4).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

import duramen as dm
from benchmarks.biases.chance import (
    FEWER,
    QUICK,
    SLOW,
    Task,
    grouped,
    importances,
    max_t_of,
    mean_gini,
    mean_information,
    null_table,
    simulated,
)
from benchmarks.biases.tables import Table
from duramen.support.arrays import FloatArray

DATA_SETS = 120
PEOPLE, TREES, PERMUTATIONS = 200, 30, 19
FREQUENCIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
SNPS = 5  # of each frequency
CASES = {"50 % cases": 0.5, "10 % cases": 0.1}
RANKED = ("mdi", "mda", "air")  # where one SNP is relevant
LEVEL = 0.05
INFORMATION = 0.05  # bits of a relevant SNP
RELEVANT = (0.05, 0.1, 0.2, 0.35, 0.5)
NODE = 20  # rows of a node whose samples are enumerated

GROUPS = [range(SNPS * i, SNPS * (i + 1)) for i in range(len(FREQUENCIES))]


def tables(data_sets: int, seed: int) -> Iterator[Table]:
    yield at_a_node()
    yield over_samples()
    for title, fraction in CASES.items():
        kinds = [f"{f:g}" for f in FREQUENCIES]
        for measures, count in ((QUICK, data_sets), (SLOW, max(1, data_sets // FEWER))):
            yield null_table(
                f"Mean importance of irrelevant SNPs by minor-allele frequency; {PEOPLE} people, "
                f"{title}, {TREES} trees, {count} data sets",
                measures,
                simulated(null_task(fraction, measures), count, seed),
                kinds,
                GROUPS,
            )
        taken = simulated(null_task(fraction, ()), data_sets, seed)
        yield taken_table(title, taken, kinds)
    yield with_relevant(data_sets, seed)


# --- theory ---------------------------------------------------------------------------------------


def genotypes(frequency: float) -> FloatArray:
    """Probabilities of 0, 1 and 2 minor alleles."""
    major = 1 - frequency
    return np.array([major**2, 2 * frequency * major, frequency**2])


def at_a_node() -> Table:
    """Mean gain of a multiway split on an irrelevant SNP (exact)."""
    rows = []
    for f in FREQUENCIES:
        values, gains = genotypes(f), list[float]()
        for n in (10, 100, 1000):
            gains.append(mean_information(values, [0.5, 0.5], n))
        gains.append(mean_information(values, [0.9, 0.1], 100))
        rows.append([f"{f:g}", *gains, mean_gini(values, [0.5, 0.5], 10)])
    heads = [
        "frequency",
        "10 rows",
        "100 rows",
        "1000 rows",
        "100 rows, 10 % cases",
        "Gini, 10 rows",
    ]
    return Table(
        "Mean information in bits of an irrelevant SNP at a node, and decrease of Gini impurity "
        "(exact)",
        heads,
        rows,
        digits=4,
    )


def over_samples() -> Table:
    """Distribution of the information of an irrelevant SNP over all samples of a small node."""
    rows = []
    for f in FREQUENCIES:
        bits, chances = information_of_samples(genotypes(f), 0.5, NODE)
        order = np.argsort(bits)
        mean = float(chances @ bits)
        spread = float(np.sqrt(chances @ (bits - mean) ** 2))
        high = bits[order][np.searchsorted(np.cumsum(chances[order]), 0.95)]
        rows.append([f"{f:g}", float(chances[bits < 1e-12].sum()), mean, spread, float(high)])
    heads = ["frequency", "probability of 0", "mean", "standard deviation", "95 % quantile"]
    return Table(
        f"Information in bits of an irrelevant SNP at a node of {NODE} rows, over all samples "
        "(exact)",
        heads,
        rows,
    )


def information_of_samples(
    values: FloatArray, cases: float, n_rows: int
) -> tuple[FloatArray, FloatArray]:
    """Information of all samples of a feature and a target of two classes, with probabilities."""
    bits, chances = list[FloatArray](), list[FloatArray]()
    for counts in product(range(n_rows + 1), repeat=len(values) - 1):
        if sum(counts) > n_rows:
            continue
        sizes = np.array([*counts, n_rows - sum(counts)])
        chance = stats.multinomial.pmf(sizes, n_rows, values)
        with_class = np.array(list(product(*(range(size + 1) for size in sizes))))
        chances.append(chance * stats.binom.pmf(with_class, sizes, cases).prod(axis=1))
        bits.append(information(sizes, with_class))
    return np.concatenate(bits), np.concatenate(chances)


def information(sizes: NDArray[np.int64], with_class: NDArray[np.int64]) -> FloatArray:
    """Return plug-in information in bits from sizes (k,) and sizes in a class (samples, k)."""
    present = np.maximum(sizes, 1)
    within = (sizes / sizes.sum()) * entropy(with_class / present)
    return entropy(with_class.sum(axis=1) / sizes.sum()) - within.sum(axis=1)


def entropy(fraction: FloatArray) -> FloatArray:
    return np.asarray(stats.entropy([fraction, 1 - fraction], base=2))


# --- experiment -----------------------------------------------------------------------------------


def snps(random: np.random.Generator) -> NDArray[np.int64]:
    """Independent SNPs of all frequencies."""
    return random.binomial(2, np.repeat(FREQUENCIES, SNPS), (PEOPLE, SNPS * len(FREQUENCIES)))


def null_task(cases: float, measures: Sequence[str]) -> Task:
    """Return a task of importances by each measure, or without measures of selections by tests."""

    def task(random: np.random.Generator, seed: int) -> FloatArray:
        y = random.permutation(np.arange(PEOPLE) < round(cases * PEOPLE)).astype(np.int64)
        data = dm.learning_set(snps(random), y)
        forest = dm.RandomForestClassifier(TREES, random_state=seed)
        return importances(measures, forest, data, seed) if measures else tested(data, seed)

    return task


TESTED = (
    *(
        f"max-T of {name}, {what}"
        for name in ("MDA", "MDI")
        for what in ("p", "adjusted p", "first")
    ),
    *("AIR, p by Janitza", "J_chi2, p"),
)


def tested(data: dm.LearningSet, seed: int) -> FloatArray:
    """SNPs that each test takes at .05, or has first, of shape (tests, p)."""
    rows = list[NDArray[np.bool_]]()
    for measure in ("mda", "mdi"):
        result = max_t_of(measure, data, trees=TREES, permutations=PERMUTATIONS, seed=seed)
        rows += [result.p_values <= LEVEL, result.p_adjusted <= LEVEL]
        rows.append(np.arange(len(result)) == np.argmax(result.statistics))
    forest = dm.RandomForestClassifier(TREES, random_state=seed)
    air = dm.importances.air(forest, data, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "janitza: only")  # few SNPs have few negative values
        rows.append(dm.significance.janitza(air, add_one=False).p_values <= LEVEL)
        warnings.filterwarnings("ignore", "vote_change: p-values shrink")  # as they do here
        rows.append(dm.importances.vote_change(forest.fit(data), data).p_values <= LEVEL)
    return np.array(rows, dtype=np.float64)


def taken_table(title: str, taken: FloatArray, kinds: Sequence[str]) -> Table:
    """Fractions of irrelevant SNPs by test and frequency, and of data sets with any."""
    rows = []
    for i, name in enumerate(TESTED):
        fractions = grouped(taken[:, i], GROUPS).mean(axis=0)
        if name.endswith("first"):
            fractions = SNPS * fractions
        rows.append([name, *fractions.tolist(), float(taken[:, i].max(axis=1).mean())])
    return Table(
        f"Fraction of irrelevant SNPs taken at {LEVEL} by minor-allele frequency ({title}), and of "
        f"data sets with any. First: fraction of data sets where one of the {SNPS} has the largest "
        "statistic",
        ["test", *kinds, "any"],
        rows,
    )


def with_relevant(data_sets: int, seed: int) -> Table:
    """Count data sets in which a relevant SNP is first or selected, by its allele frequency."""
    rows = []
    for frequency in RELEVANT:
        result = simulated(relevant_task(frequency), max(1, data_sets // 2), seed).mean(axis=0)
        rows.append([f"{frequency:g}", odds_ratio(frequency), *result.tolist()])
    titles = [dm.importances.catalogue[name].title for name in RANKED]
    heads = ["frequency", "odds ratio", *(f"first by {title}" for title in titles), "confirmed"]
    return Table(
        f"One relevant SNP of {INFORMATION} bits among {SNPS * len(FREQUENCIES)} irrelevant ones: "
        "fraction of data sets where it is first, and confirmed by max-T of MDA",
        heads,
        rows,
        digits=2,
    )


def relevant_task(frequency: float) -> Task:
    """Return a task: is the relevant SNP first by each measure, and confirmed by max-T of MDA?"""
    slope = log_odds(frequency)

    def task(random: np.random.Generator, seed: int) -> FloatArray:
        cause = random.binomial(2, frequency, PEOPLE)
        y = random.random(PEOPLE) < risk(cause, frequency, slope)
        data = dm.learning_set(np.column_stack([cause, snps(random)]), y.astype(np.int64))
        forest = dm.RandomForestClassifier(TREES, random_state=seed)
        values = importances(RANKED, forest, data, seed)
        test = max_t_of("mda", data, trees=TREES, permutations=PERMUTATIONS, seed=seed)
        return np.append(values[:, 0] > values[:, 1:].max(axis=1), test.p_adjusted[0] <= LEVEL)

    return task


def risk(alleles: NDArray[np.int64], frequency: float, slope: float) -> FloatArray:
    """Probability of a case: logistic in the alleles, and .5 at their mean."""
    return np.asarray(1 / (1 + np.exp(-slope * (alleles - 2 * frequency))))


def log_odds(frequency: float) -> float:
    """Slope at which an SNP of this frequency has INFORMATION bits on the target."""
    values, alleles = genotypes(frequency), np.arange(3)

    def missing(slope: float) -> float:
        cases = risk(alleles, frequency, slope)
        bits = entropy(np.array(values @ cases)) - values @ entropy(cases)
        return float(bits) - INFORMATION

    return float(brentq(missing, 0.0, 20.0))


def odds_ratio(frequency: float) -> float:
    return float(np.exp(log_odds(frequency)))
