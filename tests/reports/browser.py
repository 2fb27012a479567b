"""Pages in a headless browser: Debian's chromium, or the one that $CHROMIUM names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SCREENS = {"desktop": (1280, 800), "phone": (390, 844)}
A4 = {"format": "A4", "margin": dict.fromkeys(("top", "right", "bottom", "left"), "15mm")}


def missing() -> str:
    """Return what is missing for a browser; empty if nothing is."""
    for package in ("playwright", "axe_playwright_python", "pypdf"):
        try:
            __import__(package)
        except ImportError:
            return f"no {package}: pip install --group browser"
    return "" if executable() else "no chromium on the path, and $CHROMIUM names none"


def executable() -> str | None:
    """Return the path of the browser, None if there is none."""
    options = os.environ.get("CHROMIUM")
    return options or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def opened(path: Path, screen: str) -> Iterator[tuple[Any, list[str]]]:
    """Open a file in a window of a screen's size; give the page, and what its console says."""
    from playwright.sync_api import sync_playwright

    width, height = SCREENS[screen]
    said: list[str] = []
    with sync_playwright() as playwright:
        # Containers and root have no sandbox; the page is ours.
        browser = playwright.chromium.launch(
            executable_path=executable(), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.goto(path.resolve().as_uri())
            yield page, said
        finally:
            browser.close()
