"""Results in a notebook: static tables, everything escaped, of bounded size."""

from html.parser import HTMLParser

import numpy as np
import pytest

import duramen as dm
from duramen.results.result import Result
from duramen.significance import AdjustedSignificance, ErrorRates, Intervals

VOID = {"br", "rect", "path"}
ALLOWED = {
    *("div", "p", "br", "strong", "small", "svg", "rect", "path"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=f()>',
    "a\x1b[31m\nb",
    "&lt;",
    "é" * 999,
)


class Page(HTMLParser):
    """Text of the cells of a page whose tags are all closed."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.attributes, self.rows = [], set(), [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [name for name, _ in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def importances(names=HOSTILE, **changes):
    p = len(names)
    options = {"standard_error": np.full(p, 0.5), "metadata": {"seed": 7, "n_trees": 10}, **changes}
    return dm.Importances(tuple(names), np.arange(p, 0.0, -1.0), "mdi", "bits", **options)


def some_results():
    names = HOSTILE
    p = len(names)
    numbers = np.linspace(0.9, 0.1, p)
    options = {"names": names, "scores": numbers, "p_values": 1 - numbers}
    about = {"method": "t", "null": "<b>nothing</b>", "notes": ("<i>few</i> rows",)}
    yield importances()
    yield dm.Significance(**options, **about)
    order = {"q_values": 1 - numbers, "p_adjusted": 1 - numbers, "statistics": numbers}
    yield AdjustedSignificance(**options, **about, **order, adjustment="<x>")
    yield ErrorRates(names, numbers, 1 - numbers, "<m>", "<what>", n_known=2)
    yield Intervals(names, numbers, numbers, numbers - 1, numbers + 1, 0.95, "<m>", "1", "s", "n")
    X, y = np.arange(20.0).reshape(10, 2) % 7, np.array(["<b>", "c"] * 5)
    data = dm.learning_set(X, y, names=HOSTILE[:2])
    yield data
    yield data.table
    yield dm.theory.FiniteDistribution.from_table(X.astype(str), y, names=HOSTILE[:2])
    yield dm.contexts.context_importances(
        X, y, np.array(["<a>", "&"] * 5), n_permutations=3, random_state=0
    )


@pytest.mark.parametrize("result", list(some_results()), ids=lambda result: type(result).__name__)
def test_names_from_data_stay_text(result):
    html = result._repr_html_()
    page = Page(html)
    assert page.tags <= ALLOWED
    assert not any(name.startswith("on") or name in ("src", "href") for name in page.attributes)
    assert not any(c in html for c in ("\x1b", "<script", "<img", "<b>", "<i>"))
    assert 100 < len(html) < 20_000


@pytest.mark.parametrize("result", list(some_results()), ids=lambda result: type(result).__name__)
def test_text_and_table_show_the_same_cells(result):
    page, text = Page(result._repr_html_()), repr(result)
    shown = [part for part in result.summary().parts() if part.columns and part.columns[0].cells]
    assert sum(len(part.columns[0].cells) + 1 for part in shown) == len(page.rows)
    if "\n" in text:
        for row in page.rows:
            assert any(all(cell in line for cell in row) for line in text.splitlines())


def test_the_table_has_numbers_bars_errors_and_settings():
    html = importances(("a", "b"))._repr_html_()
    page = Page(html)
    assert page.rows == [
        ["", "feature", "bits", "", "std. error"],
        ["1", "a", "2.000", "", "0.50"],
        ["2", "b", "1.000", "", "0.50"],
    ]
    assert html.count("<rect") == html.count("<path") == 2
    assert "mdi of 2 features, in bits" in html
    assert "trees 10 · seed 7" in html


def test_size_does_not_grow_with_the_features():
    p = 1_000_000
    many = dm.Importances(tuple(map(str, range(p))), np.ones(p), "mdi", "1")
    html = many._repr_html_()
    assert len(html) < 5000
    assert "... and 999,990 more" in html


def test_results_inside_results_are_found_below_their_base(tmp_path):
    inner = next(iter([importances(("a",))]))
    assert type(inner).__mro__[1] is not Result
    loaded = dm.importances.MonteCarloSelection(
        inner, np.ones(1), 0.5, np.empty(0), np.empty(0), np.empty(0)
    )
    loaded.save(tmp_path / "m.npz")
    assert dm.importances.MonteCarloSelection.load(tmp_path / "m.npz").equals(loaded)
