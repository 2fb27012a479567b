"""The built site in a browser: search, the page of decisions, accessibility, widths.

Run by `make docs`, which names the folder of the site in $DURAMEN_SITE.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.reports.browser import SCREENS, executable, missing
from tests.test_site import QUESTIONS

SITE = os.environ.get("DURAMEN_SITE")
pytestmark = [
    pytest.mark.skipif(SITE is None, reason="$DURAMEN_SITE names no site; `make docs` builds it"),
    pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is here"),
]
PAGES = (
    "index.html",
    "questions.html",
    "start/install.html",
    "start/which-importance.html",
    "how-to/ranking/rank.html",
    "reference/duramen.rank.html",
)
# What a reader types for each question.
TYPED = {subject: subject for subject in QUESTIONS} | {
    "citing": "cite",
    "reading the report": "report",
}


class Quiet(SimpleHTTPRequestHandler):
    """Server of files that keeps no log."""

    def log_message(self, format: str, *words: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all versions: the site as the development version, and two releases of it."""
    folder = tmp_path_factory.mktemp("published")
    first = folder / "0.2.0"
    first.mkdir()
    # A release that lacks all pages but the first: nothing else was written yet.
    (first / "index.html").write_text("<title>0.2.0</title>")
    (folder / "0.10.0rc1").mkdir()
    (folder / "0.10.0rc1" / "index.html").touch()
    program = Path(__file__).resolve().parents[2] / "tools" / "versions.py"
    subprocess.run([sys.executable, program, str(SITE), folder, "dev"], check=True)
    return folder


@pytest.fixture(scope="module")
def address(published: Path) -> Iterator[str]:
    """Serve the site: a search that is opened from a file cannot read other pages."""
    handler = functools.partial(Quiet, directory=published)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/dev"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


def opened(browser: Any, url: str, screen: str = "desktop") -> Any:
    width, height = SCREENS[screen]
    page = browser.new_page(viewport={"width": width, "height": height})
    page.route(re.compile(r"^https://"), lambda route: route.abort())  # nothing outside
    page.goto(url)
    return page


def results(browser: Any, address: str, query: str) -> list[str]:
    """The first three results of the search, as paths in the site with their anchors."""
    page = opened(browser, address)
    # The box is in a dialog, which Ctrl-K opens.
    page.keyboard.press("Control+k")
    page.keyboard.type(query)
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results ul.search li a", timeout=60_000)
    page.wait_for_function(
        "() => /found|finished/.test(document.querySelector('#search-results').innerText)",
        timeout=60_000,
    )
    links = page.locator("#search-results ul.search > li > a").all()[:3]
    paths = [
        link.evaluate("link => link.pathname + link.hash").removeprefix("/dev/") for link in links
    ]
    page.close()
    return paths


def heading_below(path: str) -> str:
    """The heading of the section in which an anchor of a page is, or which it precedes."""
    name, _, anchor = path.partition("#")
    text = (Path(str(SITE)) / name).read_text("utf-8")
    place = text.find(f'id="{anchor}"') if anchor else 0
    heading = re.search(r"<h[1-6][^>]*>(.*?)<a", text[place:], re.DOTALL)
    return re.sub(r"<[^>]+>", "", heading[1]) if heading else ""


@pytest.mark.parametrize("subject", QUESTIONS)
def test_the_search_leads_to_the_answer(subject: str, browser: Any, address: str) -> None:
    first = results(browser, address, TYPED[subject])
    in_questions = [path for path in first if path.startswith("questions.html")]
    headings = [heading_below(path).replace("“", '"').replace("”", '"') for path in in_questions]
    assert any(QUESTIONS[subject] in heading.lower() for heading in headings), (first, headings)


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", PAGES)
def test_accessibility(name: str, screen: str, browser: Any, address: str) -> None:
    """No violation by axe-core, light and dark; nothing is wider than the screen."""
    from axe_playwright_python.sync_playwright import Axe

    page = opened(browser, f"{address}/{name}", screen)
    for scheme in ("light", "dark"):
        page.evaluate("scheme => { document.documentElement.dataset.theme = scheme }", scheme)
        page.wait_for_timeout(400)  # colors fade
        violations = Axe().run(page).response["violations"]
        assert [(record["id"], record["nodes"][0]["html"]) for record in violations] == []
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= SCREENS[screen][0]
    page.close()


def test_decisions_by_keyboard(browser: Any, address: str) -> None:
    """From the first question to an answer by keys alone; the address keeps the answers."""
    page = opened(browser, f"{address}/start/which-importance.html")
    page.locator("#which input").first.focus()
    page.keyboard.press("Space")
    assert page.locator("#which fieldset").count() == 2
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")  # needed even if all others are known
    shown = page.locator("article section > section:visible")
    assert [section.get_attribute("id") for section in shown.all()] == [
        "each-feature-given-all-others"
    ]
    assert page.locator("#which-said").inner_text() == "Use: Each feature given all others"
    page.goto(page.url)
    assert page.locator("#which input:checked").count() == 2
    page.close()
    file = Path(str(SITE)) / "start" / "which-importance.html"
    page = opened(browser, file.resolve().as_uri())
    page.locator("#which input").last.check()
    assert page.locator("article section > section:visible").count() == 1
    page.close()


def test_the_list_of_versions(published: Path) -> None:
    """The newest release is the preferred one; a candidate is not; 10 comes after 2."""
    entries = json.loads((published / "versions.json").read_text())
    assert [entry["version"] for entry in entries] == ["dev", "0.10.0rc1", "0.2.0"]
    assert [entry["version"] for entry in entries if entry.get("preferred")] == ["0.2.0"]
    assert 'href="0.2.0/index.html"' in (published / "index.html").read_text()


@pytest.mark.parametrize("screen", SCREENS)
def test_another_version(screen: str, browser: Any, address: str) -> None:
    """The switcher leads to the same page of another version, or to its first page."""
    page = opened(browser, f"{address}/how-to/ranking/rank.html", screen)
    banner = page.locator("#bd-header-version-warning")
    banner.get_by_text("development version").wait_for()  # until the list of versions is read
    stable = banner.locator("a", has_text="stable version")
    assert stable.get_attribute("href") == "/0.2.0/how-to/ranking/rank.html"
    if screen == "phone":
        page.locator(".primary-toggle").click()
    page.locator(".version-switcher__button:visible").first.click()
    page.locator(".version-switcher__menu.show a", has_text="0.2.0").click()
    page.wait_for_url(re.compile(r"/0\.2\.0/"))
    assert page.title() == "0.2.0"
    page.close()


def test_no_version_beside_a_site_from_a_file(browser: Any) -> None:
    """A switcher without versions is not shown."""
    page = opened(browser, (Path(str(SITE)) / "index.html").resolve().as_uri())
    assert page.locator(".version-switcher__button:visible").count() == 0
    page.close()


def test_former_addresses_lead_to_sections(browser: Any, address: str) -> None:
    page = opened(browser, f"{address}/how-to/ranking/rank-verdicts.html")
    page.wait_for_url(f"{address}/how-to/tests/max-t.html")
    page.goto(f"{address}/how-to/running/queues.html")
    page.wait_for_url(f"{address}/how-to/running/cluster.html#queues-and-kubernetes")
    assert page.locator("section#queues-and-kubernetes").count() == 1
    page.close()
