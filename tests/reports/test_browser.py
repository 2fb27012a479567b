"""The report of `duramen rank --demo` in a real browser: layout, paper, accessibility."""

import re

import pytest
from tests.cli.commands import done
from tests.reports.browser import A4, SCREENS, missing, opened

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is here"),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "out"
    done(out, "rank", "--demo", "--trees", 300, "--permutations", 39, "--quiet")
    return out / "report.html"


@pytest.fixture(params=SCREENS)
def page(request, report):
    with opened(report, request.param) as (page, said):
        yield page
        assert said == []


def test_nothing_is_wider_than_the_screen(page):
    def too_wide():
        return page.evaluate(
            """() => [document.documentElement, ...document.querySelectorAll('.scroll')]
            .filter(e => e.scrollWidth > e.clientWidth).map(e => e.className || e.tagName)"""
        )

    assert too_wide() == []
    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert "HTML" not in too_wide()  # wide tables of other measures scroll by themselves


def test_the_conclusion_is_seen_without_scrolling(page):
    box = page.locator(".conclusion").bounding_box()
    assert box["y"] + box["height"] < page.viewport_size["height"]
    assert "reliably associated with" in page.locator(".conclusion").inner_text()


def test_columns_that_matter_are_on_the_screen(page):
    shown = [cell.inner_text() for cell in page.locator("thead").first.locator("th:visible").all()]
    assert {"feature", "MDI-oob, bits", "verdict", "direction"} <= set(shown)
    row = page.locator("tbody tr").first
    right = max(
        cell.bounding_box()["x"] + cell.bounding_box()["width"]
        for cell in row.locator("th:visible, td:visible").all()
    )
    assert right <= page.viewport_size["width"]


def test_accessibility(page):
    """Headings, alternative texts, contrast and more, by axe-core; with all sections open."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
    result = Axe().run(page).response["violations"]
    assert [(record["id"], record["nodes"][0]["html"]) for record in result] == []
    page.emulate_media(color_scheme="dark")
    result = Axe().run(page).response["violations"]
    assert [(record["id"], record["nodes"][0]["html"]) for record in result] == []


def test_paper_has_at_most_five_pages(report):
    with opened(report, "desktop") as (page, _):
        written = page.pdf(**A4)
    pages = len(re.findall(rb"/Type\s*/Page\b", written))
    assert 1 <= pages <= 5
