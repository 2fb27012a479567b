"""Manhattan plots: places along the genome, shades, names and the threshold."""

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_hex

import duramen as dm
from duramen.plots.canvas import ACCENT, MUTED

NAMES = ("a", "b", "c", "d", "e")
POSITIONS = {"chromosome": ["10", "2", "2", "X", "0"], "position": [7, 300, 100, 5, 0]}


def importances(values=(0.1, 0.4, 0.2, 0.3, 0.0)):
    return dm.Importances(NAMES, np.array(values), "mdi", "bits")


def points(ax):
    return [dots.get_offsets().tolist() for dots in ax.collections]


def test_chromosomes_come_in_their_order_in_alternate_shades():
    ax = dm.plots.manhattan(importances(), POSITIONS, k=1)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2", "10", "X", "?"]
    shades = [to_hex(dots.get_facecolor()[0]) for dots in ax.collections]
    assert shades == [ACCENT, MUTED, ACCENT, MUTED]
    assert [[height for _, height in dots] for dots in points(ax)] == [
        [0.4, 0.2],
        [0.1],
        [0.3],
        [0],
    ]
    along = [x for dots in points(ax) for x, _ in dots]
    assert along[0] > along[1]  # position 300 after 100
    assert along[0] < along[2] < along[3] < along[4]
    assert [text.get_text() for text in ax.texts] == ["b"]


def test_rows_are_matched_by_name():
    order = [3, 1, 4, 0, 2]
    columns = {name: [values[i] for i in order] for name, values in POSITIONS.items()}
    table = pa.table({"name": [NAMES[i] for i in order], **columns})
    drawn = [
        points(dm.plots.manhattan(importances(), positions)) for positions in (POSITIONS, table)
    ]
    assert drawn[0] == drawn[1]


def test_p_values_and_the_threshold_are_logarithms():
    p = np.array([0.1, 1e-4, 0.01, 1.0, 0.5])
    tested = dm.Significance(NAMES, importances().values, p, "altmann", "No association.")
    ax = dm.plots.manhattan(tested, POSITIONS, threshold=0.001)
    assert max(height for dots in points(ax) for _, height in dots) == pytest.approx(4)
    assert ax.lines[0].get_ydata()[0] == pytest.approx(3)
    assert ax.get_ylabel() == "-log10 of p"


@pytest.mark.parametrize(
    ("positions", "error", "message"),
    [
        ({"chromosome": ["1"], "position": [1]}, ValueError, "a row for each of 5 features"),
        ({"chromosome": ["1"] * 5}, ValueError, "columns chromosome and position"),
        ({**POSITIONS, "position": [0.5] * 5}, ValueError, "whole numbers"),
        ({**POSITIONS, "name": list("abcdx")}, ValueError, "lack the feature 'e'"),
        (3, TypeError, "must be a table"),
    ],
)
def test_positions_that_cannot_be_used(positions, error, message):
    with pytest.raises(error, match=message):
        dm.plots.manhattan(importances(), positions)


def test_what_cannot_be_drawn():
    with pytest.raises(TypeError, match="must be Importances or Significance"):
        dm.plots.manhattan([1, 2], POSITIONS)
    with pytest.raises(ValueError, match="must have a feature"):
        dm.plots.manhattan(importances().top(0), POSITIONS)
