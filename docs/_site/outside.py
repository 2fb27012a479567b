"""Pages of the site whose text stands elsewhere in the repository.

A page of docs/project is a title and a link to the file that it shows, for readers of the
repository. On the site it is that file. Links between Markdown files, which are relative paths, so
that they work in the repository, are rewritten where the site has the file under another name. A
comment ``<!-- index: term; term -->`` above a heading puts it into the index under these terms. A
picture of the gallery gets a caption that leads to its example.
"""

from __future__ import annotations

import os.path
import re
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
PAGES = {
    "project/contributing": "CONTRIBUTING.md",
    "project/changelog": "CHANGELOG.md",
    "project/benchmarks": "benchmarks/README.md",
    "project/support": "SUPPORT.md",
    "project/security": "SECURITY.md",
    "project/releasing": "RELEASING.md",
    "project/conduct": "CODE_OF_CONDUCT.md",
    "project/licenses": "THIRD_PARTY_LICENSES.md",
    "project/data": "src/duramen/datasets/data/README.md",
}
INSTEAD = {file: f"docs/{name}.md" for name, file in PAGES.items()} | {"README.md": "docs/index.md"}
INDEX = re.compile(r"^<!-- index: (.+) -->$", re.MULTILINE)
EXAMPLE = re.compile(
    r"^!\[([^\]]+)\]\((\S*gallery/\w+)/images/sphx_glr_(\w+)_001\.png\)$", re.MULTILINE
)
LINK = re.compile(r"(\]\()([^)\s:#]+)(#[^)\s]*)?\)")


def rewritten(text: str, file: str, shown_in: str) -> str:
    """Return the text of a file with its relative links as a page elsewhere needs them."""

    def moved(link: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(file), link[2]))
        target = INSTEAD.get(target, target)
        relative = os.path.relpath(target, os.path.dirname(shown_in))
        return f"{link[1]}{relative}{link[3] or ''})"

    return LINK.sub(moved, text)


def indexed(terms: re.Match[str]) -> str:
    """Return the directive that puts terms into the index, which the search reads."""
    entries = ", ".join(f"! {term.strip()}" for term in terms[1].split(";"))  # main: found first
    return f":::{{index}} {entries}\n:::\n"


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace the source of a page by the file that it shows, and rewrite its links."""
    shown_in = f"docs/{name}.md"
    if not (ROOT / shown_in).is_file():
        return
    if name in PAGES:
        file = PAGES[name]
        app.env.note_dependency(str(ROOT / file))
        source[0] = rewritten((ROOT / file).read_text(encoding="utf-8"), file, shown_in)
    else:
        source[0] = rewritten(source[0], shown_in, shown_in)
    source[0] = INDEX.sub(indexed, source[0])
    caption = r"*\1: an example of the {doc}`gallery <\2/\3>`.*"
    source[0] = EXAMPLE.sub(rf"\g<0>\n\n{caption}", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Rewrite the sources as they are read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
