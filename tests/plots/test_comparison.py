import pytest

from duramen import Importances
from duramen.importances import compare
from duramen.plots import parallel_ranks


def comparison(*rows, names=None):
    rows = rows or ([4, 3, 2, 1, 0], [3, 4, 0, 2, 1], [0, 1, 2, 3, 4])
    names = names or tuple("abcdefghij"[: len(rows[0])])
    return compare({f"m{i}": Importances(names, row, "m", "1") for i, row in enumerate(rows)})


def rendered(ax):
    from io import BytesIO

    import matplotlib as mpl

    buffer = BytesIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        ax.figure.savefig(buffer, format="svg")
    return buffer.getvalue().decode()


def test_lines_go_from_rank_to_rank():
    ax = parallel_ranks(comparison(), k=5)
    heights = [list(line.get_ydata()) for line in ax.lines[:5]]
    assert heights == [[1, 2, 5], [2, 1, 4], [3, 5, 3], [4, 3, 2], [5, 4, 1]]
    names = [text.get_text().split() for text in ax.get_yticklabels()]
    assert names[:5] == [["a", "1"], ["b", "2"], ["c", "3"], ["d", "4"], ["e", "5"]]
    low, high = ax.get_ylim()
    assert low > high


def test_ranks_beyond_the_first_are_below_the_rule_and_grey():
    ax = parallel_ranks(comparison(), k=2, by="m1")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["m1", "m0", "m2"]
    assert [list(line.get_ydata()) for line in ax.lines[:2]] == [[1, 2, 3.5], [2, 1, 3.5]]
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "not among the first 2"
    stays = parallel_ranks(comparison([3, 2, 1, 0], [2, 3, 1, 0], [0, 3, 2, 1]), k=2).lines
    assert stays[0].get_color() != stays[1].get_color()
    rule = ax.lines[2].get_ydata()[0]
    assert 2 < rule < 3.5


def test_tied_features_start_at_places_of_their_own():
    ax = parallel_ranks(comparison([1, 1, 1], [1, 2, 3]), k=3)
    assert [list(line.get_ydata()) for line in ax.lines[:3]] == [[1, 3], [2, 2], [3, 1]]


def test_names_are_drawn_as_they_are():
    names = ("$\\frac{1}$", "a$b$c", "<b>", "x\ty\n", "q" * 99)
    options = comparison(names=names)
    svg = rendered(parallel_ranks(options))
    assert "a$b$c" in svg
    assert "&lt;b&gt;" in svg
    assert "x\\ty\\n" in svg
    assert "q" * 99 not in svg


def test_refuses_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="k must be an int >= 1, got 0"):
        parallel_ranks(comparison(), k=0)
    with pytest.raises(ValueError, match="by must be one of"):
        parallel_ranks(comparison(), by="m9")
    with pytest.raises(ValueError, match="must have a feature, got none"):
        parallel_ranks(comparison([], []))
