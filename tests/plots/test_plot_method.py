"""The method `plot` of results, and the figures that it finds."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import duramen as dm
from duramen.significance import (
    ErrorRates,
    Intervals,
    PermutedImportances,
    stability,
)

P = np.linspace(0.01, 0.9, 5)
NAMES = tuple("abcde")
IMPORTANCES = dm.Importances(NAMES, P, "mdi", "bits", by_degree=np.column_stack([P, 0 * P]))
SIGNIFICANCE = dm.Significance(NAMES, 1 - P, P, "t", "No feature is associated with the target.")
RATES = ErrorRates(NAMES, 1 - P, P, "m", "The rate.")
INTERVALS = Intervals(NAMES, P, P, P - 1, P + 2, 0.95, "mda", "accuracy", "s", "normal")
STABILITY = stability(np.eye(5)[:3], names=NAMES)


def context():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 3))
    return dm.contexts.context_importances(
        X[:, :2], X[:, 0], X[:, 2], n_permutations=5, random_state=0
    )


@pytest.mark.parametrize(
    ("result", "label"),
    [
        (IMPORTANCES, "importance (bits)"),
        (SIGNIFICANCE, "p-value"),
        (INTERVALS, "importance (accuracy)"),
        (RATES, "rate"),
        (STABILITY, "selected"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_default_figure(result, label):
    ax = result.plot()
    assert isinstance(ax, Axes)
    assert ax.get_xlabel() == label


def test_intervals_have_their_ends_as_error_bars():
    (lines,) = INTERVALS.plot().collections
    ends = np.sort([segment[:, 0] for segment in lines.get_segments()], axis=0)
    np.testing.assert_allclose(ends, np.column_stack([P - 1, P + 2]))


def test_a_figure_of_a_context():
    result = context()
    ax = Figure().add_subplot()
    assert result.plot(ax=ax, context=result.contexts[1]) is ax
    assert isinstance(result.plot(), Axes)


def test_cutoff_of_monte_carlo_selection_is_drawn():
    result = dm.importances.MonteCarloSelection(
        IMPORTANCES, np.ones(5), 0.5, np.empty(0), np.empty(0), np.empty(0), np.array([0.3, 0.5])
    )
    lines = result.plot().get_lines()
    assert result.cutoff() in [line.get_xdata()[0] for line in lines]


def drawn_at(result, **options):
    """Where vertical lines are."""
    return [line.get_xdata()[0] for line in result.plot("ranking", **options).get_lines()]


def test_permuted_importances_are_drawn_as_importances():
    result = PermutedImportances(IMPORTANCES, np.arange(100.0).reshape(20, 5))
    assert 0.3 in drawn_at(result, threshold=0.3)
    assert drawn_at(result) == drawn_at(IMPORTANCES)
    assert result.plot().get_xlabel() == "importance (bits)"


def test_unknown_figures_and_results_without_one():
    with pytest.raises(
        ValueError, match=r"Importances\.plot: figure must be one of 'ranking', 'by_"
    ):
        IMPORTANCES.plot("pie")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    forest = dm.RandomForestRegressor(16, random_state=0).fit(X, X[:, 0])
    needed = dm.significance.trees_needed(forest, k=2)
    with pytest.raises(TypeError, match=r"TreesNeeded.plot: no figure .* TreesNeeded.to_frame"):
        needed.plot()
