"""Limits of a plan on a finite number of rows, whose model has infinitely many."""

from __future__ import annotations

import math
from collections.abc import Mapping

from duramen.theory.samples.information_tests import expected_information, information_threshold

_MEDIAN = 0.5


def cautions(
    *,
    n_rows: int,
    n_features: int,
    subspace: int,
    relevant: Mapping[int, int],
    n_classes: int,
) -> tuple[str, ...]:
    """Describe the limits of a plan on finitely many rows, in sentences.

    Parameters
    ----------
    n_rows, n_features : int
        Numbers n and p of the table.
    subspace : int
        Number q of features of a tree.
    relevant : mapping of int to int
        Number of relevant features expected of each degree.
    n_classes : int
        Classes of the target; 1 for a number.
    """
    return (
        "The numbers of trees assume infinitely many rows, so that a tree that holds a feature "
        f"and its companions finds the feature. On {n_rows:,} rows they are lower bounds, because "
        "of sampling error.",
        _chance(n_rows, subspace, n_classes),
        _depth(n_rows, subspace, max(relevant)),
        "Measured in searches with a test on 500 and 2,000 rows (40 of 200 features a tree, up to "
        "1,000 trees; see the guide on convergence): chains took about four times the number of "
        "the model where features found were kept; six features that decide a sixth of the target "
        "each took 40 to 60 times the number on 2,000 rows, and half of the searches did not find "
        "all of them; exclusive ors of three features were never found.",
        "Rank all features with one forest (duramen rank), with as many trees as a stable "
        "ranking needs (duramen.significance.trees_needed), and let a test decide which are "
        "relevant."
        if subspace == n_features
        else "Let a test decide which features are found, as duramen select does, and grow trees "
        "until more trees find no new feature.",
    )


def chance_of_the_best(n_rows: int, n_candidates: int, n_classes: int) -> float:
    """Compute the median of the largest score of irrelevant features with two values.

    The median of the largest plug-in information with the target, in bits, or, for a number, of the
    largest fraction of its variance explained: 2 n ln 2 times the former and n times the latter
    follow a chi-square distribution with C - 1 degrees of freedom, or one (thesis, eq. 5.14). The
    median of the largest of q is bounded by the quantile of 1 - 1 / (2 q) of a single one. The C
    classes are equally frequent; C is 1 for a number.
    """
    from scipy import special

    if n_classes == 1:
        return min(1.0, float(special.chdtri(1.0, _MEDIAN / n_candidates)) / n_rows)
    bits = information_threshold(_MEDIAN, n_rows, 2, n_classes, n_candidates=n_candidates)
    return min(1.0, math.log2(n_classes), bits)


def _chance(n_rows: int, q: int, n_classes: int) -> str:
    best = chance_of_the_best(n_rows, q, n_classes)
    if n_classes == 1:
        mean = f"{1.0 / n_rows:.2g}"
        what = f"explains about {best:.2g} of the variance of the target"
    else:
        mean = f"{expected_information(n_rows, 2, n_classes):.2g} bits"
        what = f"has about {best:.2g} bits of information on the target"
    return (
        f"By chance the best of {q:,} irrelevant features with two values {what} at the root of a "
        f"tree (one of them {mean} on average), and twice as much at a node with half of the "
        "rows; features with more values have more. A relevant feature with less information "
        "there loses the split to an irrelevant one."
    )


def _depth(n_rows: int, q: int, highest: int) -> str:
    levels = max(1, round(math.log2(n_rows)))
    text = (
        f"If every split halves the rows, single rows are reached after about {levels} levels, so "
        "that a path conditions on at most about that many features"
    )
    if highest:
        text += (
            f", and a feature of degree {highest} is judged on about "
            f"{max(1, n_rows >> min(highest, 64)):,} rows"
        )
    text += "."
    if n_rows - 1 < q:
        text += (
            f" A tree on {n_rows:,} rows has at most {n_rows - 1:,} splits, so that it leaves out "
            f"most of {q:,} features."
        )
    return text
