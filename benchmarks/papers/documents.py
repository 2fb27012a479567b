"""The inventory of the documents: each description, its place in duramen, and its test.

``python -m benchmarks.papers.documents`` writes docs/documents.md from documents.tsv.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("documents.tsv")
PAGE = ROOT / "docs" / "documents.md"
TITLES = {
    "slides": "Geurts (2016), slides",
    "Louppe": "Louppe, Wehenkel, Sutera, Geurts (2013)",
    "Paul": "Paul, Verleysen, Dupont (2012)",
    "SRS": "Sutera, Châtel, Louppe, Wehenkel, Geurts (2018)",
    "thesis": "Sutera (2019), thesis",
}
# How an answer begins that names a limit; the others name the functions or the page.
LIMITS = ("partly", "left to others", "not offered", "not studied", "does not apply")


def inventory() -> list[dict[str, str]]:
    """Return the rows of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def limit(row: dict[str, str]) -> str:
    """Return the limitation of an answer, or an empty string."""
    return next((word for word in LIMITS if row["where"].startswith(f"{word}: ")), "")


def linked(text: str) -> str:
    """Return an answer with its names as code and its pages as links."""
    text = re.sub(r"\bdm(?:\.\w+)+(?:\([^)]*\))?", r"`\g<0>`", text)
    return re.sub(r"docs/(\S+\.md)(#\S+)?", r"[\1](\1\2)", text)


def page() -> str:
    """Return the page in Markdown."""
    rows = inventory()
    whole = sum(not limit(row) for row in rows)
    limited = [f"{sum(limit(row) == word for row in rows)} {word}" for word in LIMITS]
    lines = [
        "# Documents",
        "",
        "What the five documents that duramen follows describe, by place: where it is in duramen,",
        f"and a test of it. Of {len(rows)} items {whole} are in duramen; the answers to the others",
        f"begin with their limit: {', '.join(limited)}.",
        "The [papers page](papers.md) has tables and figures of the documents, and the",
        "[errata](errata.md) what is wrong in them.",
    ]
    for document, title in TITLES.items():
        lines += ["", f"## {title}", "", "| place | item | in duramen | test |"]
        lines.append("| --- | --- | --- | --- |")
        lines += [
            f"| {row['place']} | {row['item']} | {linked(row['where'])} | `{row['test']}` |"
            for row in rows
            if row["document"] == document
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
