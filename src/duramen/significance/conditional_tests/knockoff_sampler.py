"""Knockoffs of the columns of a table, as values of its other rows.

A knockoff can be swapped with its column without a change of the joint distribution of all columns
and knockoffs (Candes et al. 2018).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from duramen.data import EncodedTable
from duramen.data.recoding import with_knockoffs
from duramen.significance.conditional_tests.nodewise import Nodewise
from duramen.significance.conditional_tests.sampler import (
    NearestRows,
    Sampler,
    curved_in,
    forest_residuals,
    numbers_of,
    probabilities,
    ridge_residuals,
    rows_of_levels,
    splines_of,
    standardized,
)
from duramen.significance.conditional_tests.scores import Scores
from duramen.significance.conditional_tests.second_order import (
    LEAST_SHRINKAGE,
    MOST_DENSE,
    SecondOrder,
    ledoit_wolf,
)
from duramen.support.arrays import FloatArray, IntArray

KnockoffKind = Literal["auto", "gaussian", "forest"]
_FILLS = 10  # rounds of draws in place of gaps


class KnownKnockoffs(Protocol):
    """Knockoffs of columns whose joint distribution is known, such as a `MarkovChain`."""

    def knockoffs(self, random: np.random.Generator) -> Any:
        """Return knockoffs of all columns, shape (n, p).

        Numbers of a numeric column, codes of an ordinal or nominal one.
        """
        ...


@dataclass(frozen=True, eq=False)
class ExactKnockoffs:
    """Knockoffs from a known distribution, as the values of the rows that come nearest."""

    table: EncodedTable
    distribution: KnownKnockoffs

    @property
    def notes(self) -> tuple[str, ...]:
        """Limits of the distribution: none."""
        return ()

    def donors(self, random: np.random.Generator) -> np.ndarray:
        """Return the row whose value the knockoff of each column has, uint32 of shape (p, n)."""
        drawn = np.asarray(self.distribution.knockoffs(random), dtype=np.float64)
        if drawn.shape != self.table.shape:
            raise ValueError(
                "knockoffs: sampler.knockoffs(random) must return an array of shape "
                f"{self.table.shape}, got {drawn.shape}."
            )
        return np.stack(
            [
                NearestRows.of(numbers_of(self.table, j), random).one_of_equal(column, random)
                for j, column in enumerate(drawn.T)
            ]
        )


@dataclass(frozen=True, eq=False)
class EstimatedKnockoffs:
    """Knockoffs from a distribution that is estimated from the rows.

    Numbers, grades and flags have second-order Gaussian knockoffs of their scores, given the other
    columns. These follow one after the other, each drawn given all columns and the knockoffs before
    it (sequential conditional independent pairs, Candes et al. 2018, algorithm 1).

    Attributes
    ----------
    sampler : Sampler
        Scores of the table's columns.
    gaussian : int64 array of shape (q,)
        Columns of the scores that have Gaussian knockoffs.
    values : float64 array of shape (n, q)
        These columns, with gaps filled.
    second_order : SecondOrder
        Distribution of what the other columns leave of these, standardized.
    explained : float64 array of shape (n, q)
        What the other columns predict of these.
    spread : float64 array of shape (q,)
        Standard deviation of what they leave.
    sequential : int64 array
        Features that are drawn one after the other.
    curved : list of p int64 arrays
        Features whose squares or cubes each feature depends on.
    """

    sampler: Sampler
    gaussian: IntArray
    values: FloatArray
    second_order: SecondOrder
    explained: FloatArray
    spread: FloatArray
    sequential: IntArray
    curved: list[IntArray]

    @classmethod
    def of(
        cls, table: EncodedTable, kind: KnockoffKind, labels: IntArray | None = None
    ) -> EstimatedKnockoffs:
        """Estimate the distribution of the columns.

        Parameters
        ----------
        table : EncodedTable
            The rows.
        kind : {"auto", "gaussian", "forest"}
            Features that are drawn one after the other: nominal ones ("gaussian"), also those that
            depend on squares or cubes of others ("auto"), or all.
        labels : int64 array of shape (p,), optional
            Group of each feature: a group is swapped with its knockoffs as a whole.
        """
        scores = Scores.of(table)
        nodewise = Nodewise.of(scores)
        widths, n_scores = scores.widths, scores.values.shape[1]
        curved = [np.empty(0, dtype=np.int64)] * table.n_columns
        filled = with_gaps_filled(scores)
        if kind != "gaussian" and n_scores <= MOST_DENSE:
            fitted = nodewise if filled is scores else Nodewise.of(filled)
            curved = curved_in(fitted.scores, fitted.residuals)
        nominal = scores.discrete & (widths > 1)
        depends = np.array([len(features) > 0 for features in curved], dtype=bool)
        alone = (widths > 0) & (nominal | depends | (kind == "forest"))
        of_alone = np.repeat(alone, widths)
        values = filled.values[:, ~of_alone]
        explained = np.zeros_like(values)
        if alone.any() and values.shape[1]:
            explained = values - ridge_residuals(scores.values[:, of_alone], values)
        rest = values - explained
        rest -= rest.mean(axis=0)
        spread = np.maximum(rest.std(axis=0), 1e-12)
        return cls(
            Sampler(table, nodewise, None, alone, 0, nodewise.residuals),
            np.flatnonzero(~of_alone),
            values,
            SecondOrder.of(
                rest / spread, None if labels is None else np.repeat(labels, widths)[~of_alone]
            ),
            explained,
            spread,
            np.flatnonzero(alone),
            curved,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Limits of the distribution, a sentence each."""
        n_alone, p = len(self.sequential), self.sampler.table.n_columns
        first = (
            "The error rate holds if knockoffs and features can be swapped, which was estimated: "
            "the knockoffs have the covariances of the normal scores of the features"
        )
        if not n_alone:
            return (f"{first}, and no other dependence between them.",)
        return (
            f"{first}; those of {n_alone} of {p} features, nominal or nonlinear in others, were "
            "drawn from ridge regressions and forests.",
        )

    def donors(self, random: np.random.Generator) -> np.ndarray:
        """Return the row whose value the knockoff of each column has, uint32 of shape (p, n)."""
        scores, table = self.sampler.scores, self.sampler.table
        donors = np.tile(np.arange(table.n_rows, dtype=np.uint32), (table.n_columns, 1))
        mean = self.explained + self.second_order.mean * self.spread
        noise = self.second_order.noise(random) * self.spread
        deviation = self.second_order.noise_deviation * self.spread
        owners = np.repeat(np.arange(table.n_columns), scores.widths)[self.gaussian]
        drawn = np.unique(owners).tolist()
        for j in drawn:
            first, last = np.searchsorted(owners, [j, j + 1])
            donors[j] = self._gaussian(
                j, mean[:, first:last], noise[:, first:last], deviation[first:last], random
            )
        for j in self.sequential.tolist():
            donors[j] = self._next(j, donors, drawn, random)
            drawn.append(j)
        return donors

    def _gaussian(
        self,
        j: int,
        mean: FloatArray,
        noise: FloatArray,
        deviation: FloatArray,
        random: np.random.Generator,
    ) -> np.ndarray:
        """Return the donors of the knockoff of a number, grade or flag, with or without gaps.

        Of the Gaussian knockoff of an indicator the mean gives the probability, and the noise the
        quantile that is compared with it, so that the knockoffs of several features keep the
        covariance of their noise.
        """
        from scipy.special import ndtr

        scores = self.sampler.scores
        first = int(np.searchsorted(self.gaussian, scores.first[j]))
        values = self.values[:, first : first + int(scores.widths[j])]
        flag = values[:, -1] > 0.0
        second = np.zeros(len(values), dtype=bool)
        if values.shape[1] > 1 or scores.discrete[j]:
            quantile = ndtr(noise[:, -1] / max(float(deviation[-1]), 1e-300))
            second = quantile > 1.0 - probabilities(mean[:, -1], values[:, -1])
            rows = rows_of_levels(flag.astype(np.int64), second.astype(np.int64), random)
            if values.shape[1] == 1:
                return rows
            flag = ~flag
        else:
            rows, flag = np.zeros(len(values), dtype=np.int64), np.ones(len(values), dtype=bool)
        nearest = NearestRows.of(np.where(flag, values[:, 0], np.nan), random)
        return np.where(second, rows, nearest.rows[nearest.places(mean[:, 0] + noise[:, 0])])

    def _next(
        self, j: int, donors: np.ndarray, drawn: Sequence[int], random: np.random.Generator
    ) -> np.ndarray:
        """Return the donors of the knockoff of a feature given all features and some knockoffs."""
        scores, table = self.sampler.scores, self.sampler.table
        block, curved = scores.columns(j), self.curved[j]
        parts = [np.delete(scores.values, np.r_[block], axis=1)]
        parts += [scores.values[donors[k], scores.columns(k)] for k in drawn]
        if len(curved) and not scores.discrete[j]:
            parts.append(splines_of(scores, curved))
        residuals = ridge_residuals(standardized(np.hstack(parts)), scores.values[:, block])
        beside = with_knockoffs(table, drawn, donors[drawn], function="knockoffs")
        of_forest = forest_residuals(
            beside, scores, residuals, j, int(random.integers(2**32)), n_threads=1
        )
        if np.square(of_forest).sum() < np.square(residuals).sum():
            residuals = of_forest
        order = random.permutation(table.n_rows)
        return np.asarray(self.sampler.drawn(j, residuals, [order], random)[0])


def with_gaps_filled(scores: Scores) -> Scores:
    """Return scores with draws in the gaps of numbers and grades.

    A gap has a score of 0, so that correlations with other columns are too small. Here the values
    have variance 1, and gaps are drawn given the other columns from a normal distribution, whose
    covariance is estimated from the filled columns, a few times in turn. Of more than `MOST_DENSE`
    columns the scores are returned as they are.
    """
    numbers = np.flatnonzero(~scores.discrete & (scores.widths > 1))
    columns = scores.first[numbers]
    values = np.array(scores.values)
    if not len(numbers) or values.shape[1] > MOST_DENSE:
        return scores
    gaps = scores.values[:, columns + 1] > 0.0
    filled = np.where(gaps, np.nan, values[:, columns])
    filled = (filled - np.nanmean(filled, axis=0)) / np.nanstd(filled, axis=0)
    values[:, columns] = np.nan_to_num(filled)
    used = np.delete(np.arange(values.shape[1]), columns + 1)  # nothing of its own indicator
    places = np.searchsorted(used, columns)
    random = np.random.default_rng(0)
    for _ in range(_FILLS):
        part = values[:, used]
        shrinkage = max(ledoit_wolf(part - part.mean(axis=0)), LEAST_SHRINKAGE)
        covariance = (1.0 - shrinkage) * np.cov(part.T, bias=True)
        covariance = np.atleast_2d(covariance) + shrinkage * np.eye(len(used))
        precision = np.linalg.inv(covariance)
        for place, rows in zip(places.tolist(), gaps.T, strict=True):
            own = float(precision[place, place])
            others = np.delete(np.arange(len(used)), place)
            mean = -part[rows][:, others] @ precision[place, others] / own
            part[rows, place] = mean + random.normal(size=len(mean)) / np.sqrt(own)
        values[:, columns] = part[:, places]
    return replace(scores, values=values)
