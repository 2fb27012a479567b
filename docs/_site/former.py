"""Addresses of former pages: each leads to the page, and the section, that has its content now.

`former-pages.tsv` lists the pages of earlier sites and where they are. A page that has moved is
written as a page without content that sends its reader on.
"""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LIST = Path(__file__).with_name("former-pages.tsv")
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={address}">
<link rel="canonical" href="{address}">
<title>Moved</title>
</head>
<body><p>This page has moved: <a href="{address}">{address}</a></p></body>
</html>
"""


def targets() -> dict[str, str]:
    """Return the page, with the anchor of a section, that each former page leads to."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def write(app: Sphinx, error: Exception | None) -> None:
    """Write a page for each former page that has moved."""
    if error is not None or app.builder.format != "html":
        return
    for name, target in targets().items():
        page, mark, anchor = target.partition("#")
        if page == name:
            continue
        file = Path(app.outdir) / f"{name}.html"
        address = os.path.relpath(f"{page}.html", os.path.dirname(name)) + mark + anchor
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PAGE.format(address=address), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages once all others are written."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
