import re
from html.parser import HTMLParser

import numpy as np
import pytest

from duramen.importances import Importances
from duramen.reports import Run, render, summarise

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a$b$ & 'c'",
    "{{ 7 * 7 }}{% raw %}",
    "]]></svg><script>",
    "遺伝子",
    "line\nbreak",
)


def example(names=HOSTILE, **changes):
    p = len(names)
    parts = np.arange(2.0 * p, 0, -1).reshape(p, 2) / 100
    given = {
        "values": parts.sum(axis=1),
        "by_degree": parts,
        "standard_error": np.full(p, 0.004),
        **changes,
    }
    return Importances(names=names, measure="mdi", unit="bits", **given)


def a_run(**changes):
    given = {
        "command": "duramen rank cells.csv --target type",
        "task": "classification",
        "target": "type",
        "file": "cells.csv",
        "n_rows": 50,
        "n_features": 7,
        "fingerprint": "abc123",
        "seed": 11,
        "settings": {"n_estimators": 100, "criterion": "entropy", "max_depth": None},
        "versions": {"duramen": "0.1.0"},
        "classes": {"x": 30, "y": 20},
        "results": {"oob_error": 0.12},
        "timings": {"grow": 1.5},
    }
    return Run(**{**given, **changes})


CURVE = [float("nan"), 0.5, 0.25, 0.12]


class Page(HTMLParser):
    """Tags with their attributes, and the text outside of style."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self._inside = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._inside.append(tag)

    def handle_endtag(self, tag):
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self._inside:
            self.text.append(data)

    def named(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def html():
    return render(summarise(example(), a_run(), oob_errors=CURVE))


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_names_are_escaped(html, page):
    assert not page.named("script")
    assert not page.named("img")
    assert "<script>" not in html
    headers = re.findall(r'<th scope="row">(.*?)</th>', html, flags=re.DOTALL)
    import html as escaping

    assert [escaping.unescape(text) for text in headers] == list(HOSTILE)
    assert "{{ 7 * 7 }}" in page.words


def test_hostile_words_of_the_run_are_escaped():
    bad = HOSTILE[0]
    run = a_run(target=bad, file=bad, command=bad, classes={bad: 1}, citation=bad)
    page = Page(render(summarise(example(), run)))
    assert not page.named("script")
    assert page.words.count(bad) >= 5


def test_needs_nothing_else(html, page):
    links = [
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "data", "action", "srcset")
    ]
    assert all(value.startswith(("#", "data:")) for value in links)
    assert not re.findall(r"url\((?!#)", html)
    assert "@import" not in html
    assert not [name for name, _ in page.tags if name in ("link", "iframe", "object", "script")]


def test_figures_say_what_they_show_and_follow_the_page(html, page):
    labels = [attributes["aria-label"] for attributes in page.named("svg")]
    assert len(labels) == 3
    assert labels[0].startswith("Bar chart of the 7 most important features.")
    assert "degree_0" in labels[1]
    assert labels[2].endswith("after 4 trees it is 0.12.")
    assert all(attributes["role"] == "img" for attributes in page.named("svg"))
    assert "var(--accent)" in html
    assert "#0072b2" not in html.split("</style>")[1]


def test_ids_are_unique_and_references_resolve(html):
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(|href=")#([^")]+)', html)) <= set(ids)


def test_works_on_paper_on_a_phone_and_in_the_dark(html, page):
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.named(
        "meta"
    )
    assert "@media print" in html
    assert "prefers-color-scheme: dark" in html
    assert page.named("html") == [{"lang": "en"}]
    assert any("scroll" in attributes.get("class", "") for attributes in page.named("div"))


def test_says_what_was_run_on_what_with_which_seed(page):
    for words in (
        "duramen rank cells.csv --target type",
        "seed 11",
        "cells.csv",
        "fingerprint abc123",
        "classes x (30), y (20)",
        "max_depth none",
        "out-of-bag error 12.0%",
        "duramen 0.1.0",
        "What not to read into it",
        "Which features matter for type",
    ):
        assert words.lower() in page.words.lower()


def test_same_input_gives_the_same_page(html):
    assert render(summarise(example(), a_run(), oob_errors=CURVE)) == html


def test_table_is_cut_and_says_so():
    names = tuple(f"f{j}" for j in range(250))
    report = summarise(example(names), a_run(n_features=250), n_rows=40)
    page = Page(render(report))
    assert len(report.rows) == 40
    assert report.rows[0].rank == 1
    assert "The first 40 of 250 features" in page.words
    assert sum(tag == "tr" for tag, _ in page.tags) == 41


def test_without_curve_errors_and_degrees():
    bare = example(by_degree=None, standard_error=None)
    run = a_run(results={}, classes=None, task="regression")
    for errors in (None, [float("nan")] * 3):
        page = Page(render(summarise(bare, run, oob_errors=errors)))
        assert len(page.named("svg")) == 1
        assert "heat map" not in page.words
        assert "error bars" not in page.words


def test_values_of_zero_and_below_render():
    values = np.array([0.0, -0.1, -0.2])
    bare = example(("a", "b", "c"), values=values, by_degree=None, standard_error=None)
    report = summarise(bare, a_run())
    assert [row.share for row in report.rows] == [0.0, 0.0, 0.0]
    assert "-0.1" in Page(render(report)).words


def test_many_classes_are_not_all_listed():
    run = a_run(classes={f"c{k}": k for k in range(40)})
    given = {fact.name: fact.value for fact in summarise(example(), run).given}
    assert given["classes"].startswith("c39 (39), c38 (38)")
    assert given["classes"].endswith("and 28 more")


def test_record_is_json_without_nan():
    import json

    record = json.loads(a_run().to_json())
    assert record["seed"] == 11
    assert record["settings"]["max_depth"] is None
    with pytest.raises(ValueError, match="Out of range"):
        a_run(results={"oob_error": float("nan")}).to_json()
