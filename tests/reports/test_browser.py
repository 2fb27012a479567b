"""The report of `duramen rank --demo` in a real browser: layout, tables, paper, accessibility."""

import csv
import io
from xml.etree import ElementTree

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


def column(page, title):
    """The cells of a column of the ranking as they are on the page."""
    return page.evaluate(
        """title => {
            const table = document.querySelector("table"), head = [...table.tHead.rows[0].cells];
            const place = head.findIndex(cell => cell.innerText.trim() === title);
            return [...table.tBodies[0].rows].map(row => row.cells[place].textContent);
        }""",
        title,
    )


@pytest.fixture(scope="module")
def results(report):
    """Rows of result.csv, in the order of the ranking."""
    with (report.parent / "result.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.fixture
def desktop(report):
    with opened(report, "desktop") as (page, said):
        yield page
        assert said == []


def test_a_search_finds_features_that_are_not_shown_at_first(desktop, results):
    assert len(column(desktop, "feature")) == 100
    name = results[4321]["name"]
    assert name not in column(desktop, "feature")
    desktop.get_by_label("Search").fill(name.upper())
    assert name in column(desktop, "feature")
    expected = sum(name.upper() in row["name"].upper() for row in results[:5000])
    shown = desktop.get_by_role("status").first
    assert shown.inner_text().startswith(f"{expected} of 5,000 features match")
    desktop.get_by_label("Search").fill("")
    assert column(desktop, "feature") == [row["name"] for row in results[:100]]


def test_the_keyboard_sorts_by_a_column_and_back(desktop, results):
    button = desktop.get_by_role("button", name="feature", exact=True)
    for direction, chosen in (("ascending", min), ("descending", max)):
        button.press("Enter")
        header = desktop.locator("th[aria-sort]")
        assert header.get_attribute("aria-sort") == direction
        first = column(desktop, "feature")[0].lower()
        assert first[0] == chosen(row["name"].lower() for row in results[:5000])[0]
    button.press("Space")
    assert desktop.locator("th[aria-sort]").count() == 0
    assert column(desktop, "feature") == [row["name"] for row in results[:100]]
    desktop.get_by_role("button", name="MDI-oob, bits", exact=True).press("Enter")
    numbers = [float(text) for text in column(desktop, "MDI-oob, bits")]
    assert numbers == sorted(numbers, reverse=True)
    most = max(float(row["importance"]) for row in results)
    assert numbers[0] == pytest.approx(most, abs=1e-4)


def test_a_filter_keeps_one_verdict(desktop, results):
    for verdict in ("confirmed", "candidate", "noise"):
        desktop.get_by_label("Verdict").select_option(verdict)
        expected = [row["name"] for row in results[:5000] if row["verdict"] == verdict]
        assert column(desktop, "feature") == expected[:100]
        assert f"{len(expected):,} of 5,000" in desktop.get_by_role("status").first.inner_text()
    desktop.get_by_role("button", name="Show 500 more").first.click()
    assert column(desktop, "feature") == expected[:600]


def test_a_figure_is_saved_as_svg_and_png(desktop):
    with desktop.expect_download() as download:
        desktop.get_by_role("button", name="Save as SVG").first.click()
    root = ElementTree.parse(download.value.path()).getroot()
    assert float(root.get("width")) > 100
    assert "var(" not in ElementTree.tostring(root, "unicode")
    assert download.value.suggested_filename.endswith(".svg")
    with desktop.expect_download() as download:
        desktop.get_by_role("button", name="Save as PNG").first.click()
    content = download.value.path().read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(content[16:20], "big") == int(4 * float(root.get("width")))


def test_without_script_the_page_shows_its_first_rows(report, tmp_path):
    plain = tmp_path / "plain.html"
    text = report.read_text(encoding="utf-8")
    plain.write_text(text.replace("script-src 'sha256-", "script-src 'sha256-0"), encoding="utf-8")
    with opened(plain, "desktop") as (page, said):
        assert len(column(page, "feature")) == 100
        assert page.locator("button:visible, input:visible").count() == 0
    assert any("Content Security Policy" in line for line in said)


@pytest.mark.parametrize("script", [True, False])
def test_paper_holds_the_collapsed_sections(report, tmp_path, script):
    from pypdf import PdfReader

    path = report
    if not script:
        path = tmp_path / "plain.html"
        text = report.read_text(encoding="utf-8")
        path.write_text(text.replace("'sha256-", "'sha256-0"), encoding="utf-8")
    with opened(path, "desktop") as (page, _):
        headings = set(page.locator("h2, h3").all_inner_texts())
        written = PdfReader(io.BytesIO(page.pdf(**A4)))
    assert 1 <= len(written.pages) <= 8
    lines = [page.extract_text().strip().splitlines() for page in written.pages]
    assert {words[-1].strip() for words in lines}.isdisjoint(headings)
    text = " ".join(" ".join(" ".join(words).split()) for words in lines)
    for words in (
        "Methods",
        "References",
        "Random forests. Machine Learning",
        "Versions and times",
    ):
        assert words in text
    assert "p-value" in text  # of the histogram in the collapsed section on the test
    assert "Number of trees" in text
    assert "Search" not in text
