"""Shifts: features whose distribution differs between contexts, and notes on the p-values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from duramen.contexts.nulls import Null, quantile_bins
from duramen.contexts.subject import Subject
from duramen.contexts.values import Context
from duramen.data import EncodedTable
from duramen.results.fields import adjusted
from duramen.support.arrays import FloatArray, IntArray

_BINS = 4
# Rarer values are taken together, so that the chi-square distribution is near enough.
_FEWEST_ROWS = 10


_LEVEL = 0.05
_NAMED = 5


@dataclass(frozen=True, eq=False)
class Shifts:
    """Shifts of features between contexts, which limit the p-values of an analysis."""

    # (p,): Of a shift of each feature; None where groups of rows stay together.
    p_values: FloatArray | None = None
    # Sentences about shifts of features, and of the target.
    notes: tuple[str, ...] = ()


def shifts_of(subject: Subject, context: Context, null: Null) -> Shifts:
    """Test whether a context shifts features or the target, and say what p-values mean then."""
    if null.relevance.groups is not None:
        return Shifts()
    p_values = shift_p_values(subject.data.table, context.nearest, null.cells)
    notes = _target_note(subject, context, null) if null.permute == "all" else ()
    shifted = np.flatnonzero(adjusted(p_values, "fdr") <= _LEVEL)
    if len(shifted):
        shown = [
            subject.data.table.names[j]
            for j in shifted[np.argsort(p_values[shifted], kind="stable")]
        ]
        notes += (shift_note(context.name, shown, null.permute),)
    return Shifts(p_values, notes)


def shift_note(context: str, names: list[str], permute: str) -> str:
    """Say which features a context shifts, and what their effects and p-values mean then."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    said = (
        f"{context} shifts features among rows of the same target (q <= {_LEVEL:g}): "
        f"{', '.join(names[:_NAMED])}{more}. "
    )
    if permute == "conditional":
        return f"{said}The sizes of effects also reflect the shift; the p-values allow for it."
    return (
        f"{said}P-values of signed and overall effects can then be small, and those of absolute "
        "effects too large, even if the features are associated with the target in the same way "
        "in all contexts. Use conditional permutations."
    )


def _target_note(subject: Subject, context: Context, null: Null) -> tuple[str, ...]:
    values = np.asarray(subject.data.target.values)
    if subject.data.classes is None:
        values = quantile_bins(values, _BINS)
    strata = null.relevance.strata
    if strata is None:
        strata = np.zeros(len(values), dtype=np.int64)
    p = stratified_chi_square(_merged(values.astype(np.int64)), context.nearest, strata)
    if p > _LEVEL:
        return ()
    return (
        f"{context.name} is associated with the target (p = {p:.2g}). Permuting it among all rows "
        "then finds effects too often, above all signed and overall effects; permute it within "
        "the target instead.",
    )


def shift_p_values(table: EncodedTable, context: IntArray, strata: IntArray) -> FloatArray:
    """Test each column by `stratified_chi_square`, numbers in four quantile bins; shape (p,)."""
    p_values = np.ones(table.n_columns)
    for j in range(table.n_columns):
        p_values[j] = stratified_chi_square(_categories(table, j), context, strata)
    return p_values


def stratified_chi_square(values: IntArray, context: IntArray, strata: IntArray) -> float:
    r"""Test whether a categorical variable and the context are associated within strata.

    The generalized Cochran-Mantel-Haenszel test of general association (Landis, Heyman and Koch
    1978): in every stratum s the counts :math:`n_{sck}` of context c and value k have, under
    permutations within strata, the expectation :math:`n_{sc} n_{sk} / n_s` and the covariance
    :math:`n_{sc} (\delta_{cc'} n_s - n_{sc'}) n_{sk} (\delta_{kk'} n_s - n_{sk'}) / (n_s^2 (n_s -
    1))`; the sum over strata of counts less expectations is taken by its covariance, and the
    quadratic form compared with a chi-square distribution. Associations of opposite directions in
    different strata cancel out. The p-value is 1 where no permutation changes anything.
    """
    n_values, n_contexts = int(values.max()) + 1, int(context.max()) + 1
    n_strata = int(strata.max()) + 1
    if n_values < 2:
        return 1.0
    cells = (strata * n_contexts + context) * n_values + values
    counts = np.bincount(cells, minlength=n_strata * n_contexts * n_values).astype(np.float64)
    counts = counts.reshape(n_strata, n_contexts, n_values)
    counts = counts[counts.sum(axis=(1, 2)) > 1]
    size = counts.sum(axis=(1, 2))
    # The last context and the last value follow from the others.
    of_context = counts.sum(axis=2)[:, :-1]
    of_value = counts.sum(axis=1)[:, :-1]
    expected = of_context[:, :, None] * of_value[:, None, :] / size[:, None, None]
    excess = (counts[:, :-1, :-1] - expected).sum(axis=0).ravel()
    scale = 1.0 / (size**2 * (size - 1))
    covariance = np.einsum(
        "s,sij,skl->ikjl", scale, _multinomial(of_context, size), _multinomial(of_value, size)
    ).reshape(len(excess), len(excess))
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True)) if len(counts) else 0
    if rank == 0:
        return 1.0
    statistic = float(excess @ np.linalg.pinv(covariance, hermitian=True) @ excess)
    from scipy import stats

    return float(stats.chi2.sf(statistic, rank))


def _multinomial(margins: FloatArray, size: FloatArray) -> FloatArray:
    """Return n_i (delta_ij n - n_j) in every stratum, of shape (S, I, I)."""
    diagonal = np.eye(margins.shape[1]) * (margins * size[:, None])[:, None, :]
    return diagonal - margins[:, :, None] * margins[:, None, :]


def _categories(table: EncodedTable, j: int) -> IntArray:
    """Return a column as categories: quantile bins of numbers, rare values taken together."""
    codes = np.asarray(table.codes(j), dtype=np.int64)
    if table.kinds[j] == "numeric":
        n_values = len(table.values(j))
        present = codes < n_values
        bins = np.full(len(codes), _BINS)
        if present.any():
            bins[present] = quantile_bins(codes[present], _BINS)
        codes = bins
    return _merged(codes)


def _merged(codes: IntArray) -> IntArray:
    """Number categories anew, with the rare ones as one."""
    _, codes, counts = np.unique(codes, return_inverse=True, return_counts=True)
    rare = counts < _FEWEST_ROWS
    merged = np.where(rare, -1, np.arange(len(counts)))[codes.reshape(-1)]
    return np.unique(merged, return_inverse=True)[1].reshape(-1).astype(np.int64)
