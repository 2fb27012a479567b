import html as escaping
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import duramen as dm
from duramen import Importances
from duramen.analyses.ranking.report import summarize as summarize_ranking
from duramen.reports import Run, render
from duramen.support.text import printable

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
    options = {
        "values": parts.sum(axis=1),
        "by_degree": parts,
        "standard_error": np.full(p, 0.004),
        **changes,
    }
    return Importances(names=names, measure="mdi", unit="bits", **options)


def a_run(**changes):
    options = {
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
    return Run(**{**options, **changes})


def summarise(first, run, *, others=(), **parts):
    """Return the report of a ranking by several measures."""
    return summarize_ranking(by_name(first, *others), run, **parts)


def by_name(*measures):
    """Return importances and tests by the name of their measure."""
    return {getattr(one, "measure", None) or one.method: one for one in measures}


CURVE = [float("nan"), 0.5, 0.25, 0.12]


class Page(HTMLParser):
    """Tags with their attributes, and the text outside of style and script."""

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
        if not {"style", "script"} & {*self._inside}:
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


# --- a ranking -----------------------------------------------------------------------------------


def test_names_are_escaped_and_the_page_needs_nothing_else(html, page):
    assert_needs_nothing_else(html)
    assert not page.named("img")
    assert html.count("<script>") == 1
    headers = re.findall(r'<th scope="row"[^>]*>(.*?)</th>', html, flags=re.DOTALL)
    assert [escaping.unescape(text) for text in headers] == [printable(n, 80) for n in HOSTILE]
    assert "{{ 7 * 7 }}" in page.words


def test_hostile_words_of_the_run_are_escaped():
    bad = HOSTILE[0]
    run = a_run(target=bad, file=bad, command=bad, classes={bad: 1}, citation=bad)
    page = Page(render(summarise(example(), run)))
    assert page.words.count(bad) >= 5


def assert_needs_nothing_else(html):
    page = Page(html)
    links = [
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "data", "action", "srcset")
    ]
    assert all(value.startswith(("#", "data:")) for value in links)
    assert not re.findall(r"url\((?!#)", html)
    assert "@import" not in html
    assert not [name for name, _ in page.tags if name in ("link", "iframe", "object")]
    scripts = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    digest = b64encode(sha256(scripts[0].encode()).digest()).decode()
    (policy,) = (tag["content"] for tag in page.named("meta") if "http-equiv" in tag)
    assert f"script-src 'sha256-{digest}';" in policy
    assert len(scripts) == 1
    assert not {"onload", "onerror", "onclick"} & {name for _, tag in page.tags for name in tag}
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(|href=")#([^")]+)', html)) <= set(ids)


def test_figures_say_what_they_show_and_follow_the_page(html, page):
    labels = [attributes["aria-label"] for attributes in page.named("svg")]
    assert len(labels) == 2
    assert "degree_0" in labels[0]
    assert labels[1].endswith("after 4 trees it is 0.12.")
    assert all(attributes["role"] == "img" for attributes in page.named("svg"))
    assert "var(--accent)" in html
    assert "#0072b2" not in html.split("</style>")[1]


def test_table_is_cut_and_says_so():
    names = tuple(f"f{j}" for j in range(250))
    report = summarise(example(names), a_run(n_features=250), n_rows=40)
    page = Page(render(report))
    table = report.section("Ranking")
    assert len(table.rows) == 40
    assert "Paper shows the first 20 rows." in page.words
    assert table.column("rank")[0] == "1"
    assert "The first 40 of 250 features" in page.words
    assert sum(tag == "tr" for tag, _ in page.tags) == 41


def test_rows_that_are_not_shown_at_first_are_data_of_the_script():
    names = (*HOSTILE, *(f"f{j}" for j in range(60)))
    report = summarise(example(names), a_run(), n_rows=2)
    html = render(report)
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', html, flags=re.DOTALL)
    further = json.loads(data)
    assert "<" not in data
    cells = [[printable(c, 4000) for c in column.cells] for column in report.main.columns]
    assert further["cells"] == [column[2:] for column in cells]
    (place,) = further["bars"]
    assert report.main.columns[int(place)].bars is not None
    assert len(further["bars"][place]) == len(names) - 2
    assert further["bars"][place][0][0] == pytest.approx(
        (report.main.columns[int(place)].bars / report.main.columns[int(place)].whiskers[1].max())[
            2
        ],
        abs=1e-4,
    )


def test_record_is_json_without_nan():
    record = json.loads(a_run().to_json())
    assert record["seed"] == 11
    assert record["settings"]["max_depth"] is None
    with pytest.raises(ValueError, match="Out of range"):
        a_run(results={"oob_error": float("nan")}).to_json()


# --- exact importances and relevance -------------------------------------------------------------


@pytest.fixture(scope="module")
def exact():
    """Report of columns with hostile names, of which the first two decide the class together."""
    X = np.array(list(product([0, 1], repeat=7)))
    y = X[:, 0] ^ X[:, 1]
    frame = pd.DataFrame(X, columns=HOSTILE).assign(ill=y)
    return dm.exact(frame, "ill", n_jobs=1)


def test_exact_report_tells_importance_and_relevance(exact):
    table = exact.section("Importance and relevance")
    assert set(table.column("feature")) == set(HOSTILE)
    row = table.column("feature").index(HOSTILE[0])
    assert table.column("relevance")[row] == "strong"
    assert table.column("relevant given")[row] == HOSTILE[1]
    headline = dict(exact.headline)
    assert headline["strongly relevant"] == "2"
    assert headline["Markov boundaries"] == "1"
    assert exact.section("Markov boundaries").lines == (f"{HOSTILE[0]}, {HOSTILE[1]}",)
    assert "seed" not in dict(exact.section("Command and settings").facts)


def test_exact_page_is_safe_and_needs_nothing_else(exact):
    html = render(exact)
    assert_needs_nothing_else(html)
    page = Page(html)
    assert not page.named("img")
    assert len(page.named("svg")) == 1
    assert page.words.count(HOSTILE[0]) >= 3


# --- a plan --------------------------------------------------------------------------------------


def test_plan_report_tells_advice_and_reasons():
    report = dm.plan(n_rows=1000, n_features=10_000, memory=10**6, relevant={0: 5, 1: 3})
    advice = report.plan
    assert report.title == (
        f"Grow at least {advice.n_trees} trees on {advice.subspace} of 10,000 features each"
    )
    assert report.section("Why").lines == advice.reasons
    table = report.section("Fractions compared")
    assert table.column("keep") == ("0", "0.5", "1")
    assert table.column("trees")[1] == f"{advice.options[1].trees:,}"
    with pytest.raises(KeyError, match="Data"):
        report.section("Data")
    html = render(report)
    assert_needs_nothing_else(html)
    page = Page(html)
    assert "dm.plan(n_rows=1000, n_features=10000, memory=1000000" in page.words


# --- figures as files ----------------------------------------------------------------------------


def test_figures_are_saved_by_their_title(tmp_path):
    report = summarise(example(), a_run(), oob_errors=CURVE)
    assert list(report.figures) == ["By interaction degree", "Error against number of trees"]
    drawn = report.figures["Error against number of trees"]
    drawn.savefig(tmp_path / "error.svg")
    text = (tmp_path / "error.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert (float(root.get("width")[:-2]), root.get("height")) == (pytest.approx(316.8), "180pt")
    assert "var(" not in text
    drawn.savefig(tmp_path / "error.png", dpi=50)
    content = (tmp_path / "error.png").read_bytes()
    assert int.from_bytes(content[16:20], "big") == 220  # 4.4 inches
    with pytest.raises(ValueError, match=r"path must end in .svg, .png or .pdf, got 'error.gif'"):
        drawn.savefig(tmp_path / "error.gif")


def test_figures_of_a_loaded_report_are_saved_as_svg(tmp_path):
    report = summarise(example(), a_run(), oob_errors=CURVE)
    report.save(tmp_path / "out")
    loaded = type(report).load(tmp_path / "out").figures["Error against number of trees"]
    loaded.savefig(tmp_path / "error.svg")
    report.figures["Error against number of trees"].savefig(tmp_path / "first.svg")
    numbers = [
        re.findall(r'<path d="([^"]+)"', (tmp_path / name).read_text(encoding="utf-8"))
        for name in ("error.svg", "first.svg")
    ]
    assert numbers[0] == numbers[1]
    with pytest.raises(ValueError, match=r"path must end in .svg for a report that was loaded"):
        loaded.savefig(tmp_path / "error.png")
