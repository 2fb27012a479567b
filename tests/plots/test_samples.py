"""Heat map, correlations, map of rows and volcano plot beside SciPy, NumPy and the definitions."""

import io
import re
from base64 import b64decode

import numpy as np
import pytest
from matplotlib.image import imread
from scipy.stats import rankdata, spearmanr

import duramen as dm
from duramen.analyses.ranking.effects import overview_of, target_columns
from duramen.plots import correlations, heat_map, row_map, volcano
from duramen.plots.svg import SvgAxes

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 5))
X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
X[:, 2] = X[:, 2].round(0)  # ties
CLASSES = np.where(X[:, 0] + RANDOM.normal(size=40) > 0, "tumor", "normal")
TIMES = np.array([*zip(X[:, 3] > 0, X[:, 0] + 5, strict=True)], [("event", "?"), ("time", "f8")])
RANKS = (2 * rankdata(X, axis=0) - 1) / 40 - 1


def opacities(axes):
    """Signed opacities of the pixels of the last image of a figure in SVG."""
    source = re.findall(r"base64,([^\"]+)", axes.drawn())[-1]
    pixels = imread(io.BytesIO(b64decode(source)), format="png")
    return np.where(pixels[..., 2] > pixels[..., 0], 1, -1) * pixels[..., 3]


@pytest.mark.parametrize("target", [CLASSES, X[:, 4], TIMES], ids=["classes", "numbers", "times"])
def test_a_heat_map_has_the_ranks_of_the_values_in_the_order_of_the_target(target):
    axes, ax = SvgAxes(4.4, 3.0), heat_map(X, target, names=list("abcde"), target_name="y")
    heat_map(X, target, ax=axes)
    image = np.asarray(ax.images[1].get_array())
    signed = np.where(image[..., 2] > image[..., 0], 1, -1) * image[..., 3] / 255
    np.testing.assert_allclose(opacities(axes), signed, atol=1e-6)
    if target is CLASSES:
        pieces = np.linalg.svd(RANKS, full_matrices=False)
        scores = RANKS @ pieces[2][0] * np.sign(pieces[2][0][np.abs(pieces[2][0]).argmax()])
        order = np.lexsort((scores, CLASSES))
    else:
        order = np.argsort(target["time"] if target is TIMES else target)
    np.testing.assert_allclose(signed, RANKS[order].T, atol=1 / 255)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["y", *"abcde"]
    bar = np.asarray(ax.images[0].get_array())[0]
    if target is CLASSES:
        assert len({*map(tuple, bar[: np.sum(CLASSES == "normal")].tolist())}) == 1
        assert len({*map(tuple, bar.tolist())}) == 2


def test_missing_values_are_gray_and_constant_features_empty():
    table = np.column_stack([[1.0, np.nan, 3.0], [np.nan] * 3, [2.0] * 3])
    ax = heat_map(table, [1.0, 2.0, 3.0])
    image = np.asarray(ax.images[1].get_array())
    gray = image[0, 1]
    assert gray[3] > 0
    assert (image[1] == gray).all()
    assert (image[2, :, 3] == 0).all()
    assert np.asarray(correlations(table).images[0].get_array())[1, :, 3].max() == 0


def test_correlations_are_those_of_spearman():
    axes = SvgAxes(4.4, 3.0)
    correlations(X, ax=axes)
    np.testing.assert_allclose(opacities(axes), spearmanr(X).statistic, atol=1 / 255)
    ax = correlations(X)
    written = {text.get_position(): int(text.get_text()) for text in ax.texts}
    expected = spearmanr(X).statistic
    assert written == {
        (j + 0.5, i + 0.5): round(10 * expected[i, j])
        for i, j in np.ndindex(5, 5)
        if i != j and abs(expected[i, j]) >= 0.5
    }


def test_a_map_of_rows_has_their_principal_components():
    ax = row_map(X, CLASSES)
    variances, axes = np.linalg.eigh(np.cov(RANKS.T))
    for place in (0, 1):
        scores = np.empty(40)
        for line, value in zip(ax.lines, ("normal", "tumor"), strict=True):
            assert line.get_label() == value
            scores[value == CLASSES] = line.get_data()[place]
        np.testing.assert_allclose(np.abs(scores), np.abs(RANKS @ axes[:, -1 - place]), atol=1e-12)
    part = 100 * variances[-1] / variances.sum()
    assert ax.get_xlabel() == f"component 1 ({part:.0f} % of the variance)"
    assert [line.get_label() for line in row_map(X, TIMES).lines] == ["event", "censored"]
    many = row_map(np.resize(X, (1000, 5)), np.arange(1000.0))
    assert sum(len(line.get_xdata()) for line in many.lines) == 300
    assert len(many.lines) == 4


def test_more_classes_than_colors_are_gray_together():
    ax = row_map(X, np.arange(40).astype(str))
    assert [line.get_label() for line in ax.lines][-1] == "34 more"
    assert len(ax.lines) == 7


def test_a_volcano_plot_names_features_that_have_room():
    names = [f"f{j}" for j in range(8)]
    effects = [-1.0, -1.0, 0.9, 0.0, 0.1, 0.2, 0.3, 1.0]
    evidence = [9.0, 8.9, 6.0, 0.1, 0.2, 0.3, 0.4, 3.0]
    verdicts = ["confirmed"] * 2 + ["candidate"] + ["noise"] * 5
    axes = SvgAxes(4.4, 3.4)
    for ax in (volcano(effects, evidence, names=names, verdicts=verdicts), axes):
        if ax is axes:
            volcano(effects, evidence, names=names, verdicts=verdicts, ax=ax)
            assert ">f0<" in ax.drawn()
            assert ">f1<" not in ax.drawn()
            assert "confirmed (2)" in ax.drawn()
        else:
            assert [len(line.get_xdata()) for line in ax.lines] == [5, 1, 2]
            assert [text.get_text() for text in ax.texts][:2] == ["f0", "f2"]


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match=r"heat_map: X must .* shapes \(40, 5\) and \(3,\)"):
        heat_map(X, CLASSES[:3])
    with pytest.raises(ValueError, match="row_map: X must have at least 2 rows and 2 features"):
        row_map(X[:, :1], CLASSES)
    with pytest.raises(ValueError, match="correlations: names must be one a feature, got 2 for 5"):
        correlations(X, names=["a", "b"])
    with pytest.raises(ValueError, match="volcano: effects, evidence, names and verdicts"):
        volcano([1.0, 2.0], [1.0], names=["a", "b"])


# --- the sections of a ranking -------------------------------------------------------------------


def overview(y, table, **options):
    data = dm.read(table, y, **options)
    names = [f"x{j}" for j in range(table.shape[1])][::-1]
    first = dm.Importances(data.names, np.arange(len(names), dtype=float), "mdi", "bits")
    return overview_of(data, names, first, None, target_columns(data, names), "y")


@pytest.mark.parametrize("positive", ["normal", "tumor"])
def test_a_volcano_plot_has_the_differences_of_the_means(positive):
    table = np.random.default_rng(1).normal(size=(40, 120)).round(2)
    table[3, 119] = np.nan
    table[:, 7] = 1.0
    section = overview(CLASSES, table, positive=positive)
    _, x, options = section.sections[-1].figure
    high = positive == CLASSES
    means = np.nanmean(table[high], axis=0) - np.nanmean(table[~high], axis=0)
    expected = means / np.where(np.arange(120) == 7, 1.0, np.nanstd(table, axis=0))
    np.testing.assert_allclose(x, expected[::-1], atol=1e-12)
    other = "tumor" if positive == "normal" else "normal"
    assert options["xlabel"] == f"{positive} less {other}, in standard deviations"
    np.testing.assert_array_equal(options["evidence"], np.arange(120.0)[::-1])


def test_tables_of_few_features_or_many_classes_have_no_volcano_plot():
    assert len(overview(CLASSES, X).sections) == 3
    wide = np.random.default_rng(1).normal(size=(40, 120))
    assert len(overview(np.resize(["a", "b", "c"], 40), wide).sections) == 3
    by_number = overview(wide[:, 5], wide).sections[-1].figure
    assert by_number[1][114] == pytest.approx(1.0)
    assert by_number[2]["xlabel"] == "Spearman's correlation with the target"
    assert overview(CLASSES, X[:, :1]) is None


def test_categories_are_shown_if_they_are_two():
    table = np.column_stack([np.resize(["no", "yes"], 40), np.resize(["a", "b", "c"], 40), CLASSES])
    _, values, options = overview(CLASSES, table.astype(object)).sections[0].figure
    assert options["names"] == ["x2", "x0"]
    np.testing.assert_array_equal(values[:, 0], CLASSES == "tumor")
