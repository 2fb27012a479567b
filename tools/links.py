"""Check the links within a built site: every page, file and anchor that a page refers to exists.

    python tools/links.py FOLDER

Links to other hosts are not followed.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the links and the anchors of a tag."""
        for name, value in attrs:
            if name in {"href", "src"} and value:
                self.links.append(value)
            elif name == "id" and value:
                self.anchors.add(value)


@cache
def page(file: Path) -> Page:
    """Return the links and anchors of a file."""
    return Page(file.read_text(encoding="utf-8"))


def broken(folder: Path) -> list[str]:
    """Return the links of all pages that lead nowhere."""
    folder = folder.resolve()
    lines = []
    # Those of the theme are templates.
    pages = (path for path in folder.rglob("*.html") if "_static" not in path.parts)
    for file in sorted(pages):
        for link in page(file).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = unquote(parts.path)
            target = folder / path.lstrip("/") if path.startswith("/") else file.parent / path
            target = (target if path else file).resolve()
            if target.is_dir():
                target = target / "index.html"
            anchor = unquote(parts.fragment)
            if not target.is_file():
                lines.append(f"{file.relative_to(folder)}: {link}: no such file")
            elif anchor and target.suffix == ".html" and anchor not in page(target).anchors:
                lines.append(f"{file.relative_to(folder)}: {link}: no such anchor")
    return lines


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines = broken(Path(sys.argv[1]))
    print("\n".join(lines) or "no broken link")
    sys.exit(bool(lines))
