"""Corrections of the pages that are written, for readers of screens.

Sphinx writes the parameters of a long signature as a list of definitions without terms, and the
theme writes switches of the navigation without names; axe-core refuses both.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

PARAMETERS = re.compile(r"<dl>\n((?:<dd>(?:(?!<dl>|<dt>).)*?</dd>\n)+)</dl>", re.DOTALL)
PARAMETER = re.compile(r"<dd>(.*?)</dd>\n", re.DOTALL)
SWITCH = '<summary><span class="toctree-toggle"'


def lines(parameters: re.Match[str]) -> str:
    """Return the parameters of a signature as lines, each indented."""
    return PARAMETER.sub(
        r'<span style="display: block; padding-left: 2em">\1</span>\n', parameters[1]
    )


def corrected(page: str) -> str:
    """Return the text of a page with both corrections."""
    named = page.replace(SWITCH, SWITCH.replace("<summary>", '<summary aria-label="Pages below">'))
    return PARAMETERS.sub(lines, named)


def correct(app: Sphinx, error: Exception | None) -> None:
    """Correct the pages in the folder of the site."""
    if error is not None or app.builder.format != "html":
        return
    for file in Path(app.outdir).rglob("*.html"):
        page = file.read_text(encoding="utf-8")
        new = corrected(page)
        if new != page:
            file.write_text(new, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Correct the pages once all are written."""
    app.connect("build-finished", correct)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
