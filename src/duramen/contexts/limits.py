"""Limits of the p-values of an analysis, such as shifts of features and few permutations."""

from __future__ import annotations

import numpy as np

from duramen.contexts.growth import Growth
from duramen.contexts.nulls import Nulls, Scheme, quantile_bins
from duramen.contexts.values import Context
from duramen.data import EncodedTable
from duramen.results.fields import adjusted
from duramen.support.arrays import FloatArray, IntArray

_LEVEL = 0.05
# Fraction of the variance of the weights in the contexts, explained by a model, above which
# permutations change little.
_DETERMINED = 0.6
_GLOBAL = {
    "within_target": "is independent of all features given the target",
    "all": "is independent of all features and the target together",
}
_BINS = 4
# Rarer values are taken together, so that the chi-square distribution is near enough.
_FEWEST_ROWS = 10
_NAMED = 5


def limits_of(
    growth: Growth, context: Context, scheme: Scheme, nulls: Nulls, n_permutations: int
) -> list[str]:
    """Say what null hypothesis is global, and where p-values cannot be small."""
    name, names = context.name, growth.data.names
    notes = []
    if scheme.permute in _GLOBAL:
        notes.append(
            "The p-values are those of one global null hypothesis, that "
            f"{name} {_GLOBAL[scheme.permute]}: if a feature depends on {name}, or its "
            "spread does, other features are found too often, and no error rate holds for them. "
            "Conditional permutations test each feature by itself."
        )
    number = scheme.effects.count(context.codes)
    if number <= n_permutations:
        notes.append(
            f"only {number:,.0f} arrangements of {name} are possible under this scheme of "
            f"permutations, so that no p-value of an effect is below about {1 / number:.2g}."
        )
    n_effects, least = context.count * len(names), 1 / (n_permutations + 1)
    if n_effects * least > _LEVEL:
        notes.append(
            f"With {n_permutations:,} permutations no p-value is below {least:.2g}, too large for "
            f"a single effect among {n_effects:,} to be significant at {_LEVEL:g} after a "
            f"correction for all of them; with {round(n_effects / _LEVEL):,} it can be."
        )
    if nulls.n_left_out:
        terms = len(nulls.terms)
        notes.append(
            f"{terms + nulls.n_left_out} features or pairs of features are associated with {name} "
            f"given the target; there are enough rows to allow for {terms} of them, those with "
            "the smallest p-values. Features that do not depend on it may be found too often."
        )
    total = _variance(np.bincount(context.codes)[None] / len(context.codes), context)
    certain = [
        [names[j] for j in null.features]
        for null in nulls.effects
        if null.log_weights is not None
        and _variance(np.exp(null.log_weights), context) < (1 - _DETERMINED) * total
    ]
    if certain:
        notes.append(
            f"The target and the other features largely determine {name}, so that permutations "
            f"change it little for {sum(map(len, certain))} of {len(names)} features, such as "
            f"{certain[0][0]}: a dependence of these can hardly be found."
        )
    return notes


def _variance(probabilities: FloatArray, context: Context) -> float:
    """Return the mean variance of the weights in all contexts, by probabilities of the values."""
    weights = np.column_stack([1 - context.scores.sum(axis=1), context.scores])
    squares = probabilities @ (weights**2) - (probabilities @ weights) ** 2
    return float(squares.sum(axis=1).mean())


# --- shifts of features ---------------------------------------------------------------------------


def shifts_of(
    growth: Growth, context: Context, scheme: Scheme
) -> tuple[FloatArray | None, list[str]]:
    """Test whether a context shifts features or the target, and say what p-values mean then.

    The p-values of the features, of shape (p,), are None where groups of rows stay together.
    """
    if scheme.relevance.groups is not None:
        return None, []
    p_values = shift_p_values(growth.data.table, context.nearest, scheme.cells)
    notes = _target_note(growth, context, scheme) if scheme.permute == "all" else []
    shifted = np.flatnonzero(adjusted(p_values, "fdr") <= _LEVEL)
    if len(shifted):
        order = shifted[np.argsort(p_values[shifted], kind="stable")]
        names = [growth.data.names[j] for j in order]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        means = (
            "P-values of signed and overall effects can then be small, and those of absolute "
            "effects too large, even if the features are associated with the target in the same "
            "way in all contexts. Use conditional permutations."
        )
        if scheme.permute == "conditional":
            means = "The sizes of effects also reflect the shift; the p-values allow for it."
        notes.append(
            f"{context.name} shifts features among rows of the same target (q <= {_LEVEL:g}): "
            f"{', '.join(names[:_NAMED])}{more}. {means}"
        )
    return p_values, notes


def _target_note(growth: Growth, context: Context, scheme: Scheme) -> list[str]:
    values = np.asarray(growth.data.target.values)
    if growth.data.classes is None:
        values = quantile_bins(values, _BINS)
    strata = scheme.relevance.strata
    if strata is None:
        strata = np.zeros(len(values), dtype=np.int64)
    p = stratified_chi_square(_merged(values.astype(np.int64)), context.nearest, strata)
    if p > _LEVEL:
        return []
    return [
        f"{context.name} is associated with the target (p = {p:.2g}). Permuting it among all rows "
        "then finds effects too often, above all signed and overall effects; permute it within "
        "the target instead."
    ]


def shift_p_values(table: EncodedTable, context: IntArray, strata: IntArray) -> FloatArray:
    """Test each column by `stratified_chi_square`, numbers in four quantile bins; shape (p,)."""
    columns = (_categories(table, j) for j in range(table.n_columns))
    return np.array([stratified_chi_square(column, context, strata) for column in columns])


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
