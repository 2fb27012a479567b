"""The tables and figures of the papers, computed again.

``python -m benchmarks.papers NAME ...`` prints the values of some entries beside the printed ones,
``all`` those of all. Entries that take long are computed at a reduced size, with ``--full`` at the
size of the paper. ``--results DIR`` keeps their results, and reads those that are there. ``--page
FILE`` writes the values and the figures as a page in Markdown, ``--html FILE`` as one file in HTML.
The exit status is 1 where any verdict fails.
"""

from __future__ import annotations

import argparse
import base64
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.papers import connectome, louppe, paul, slides, srs, thesis
from benchmarks.papers.entries import Claim, Entry, Scale, Value, decimals

ENTRIES = (
    *louppe.ENTRIES,
    *paul.ENTRIES,
    *slides.ENTRIES,
    *srs.ENTRIES,
    *thesis.ENTRIES,
    *connectome.ENTRIES,
)
ROOT = Path(__file__).resolve().parents[2]
FIGURES = "images/papers"  # beside the page


def cells(value: Value | Claim) -> list[str]:
    """Return the row of a value in the table of its entry."""
    name = value.what.replace("|", "\\|")
    if isinstance(value, Claim):
        ours = f"{value.ours:.3f}" if abs(value.ours) < 1000 else f"{value.ours:,.0f}"
        return [name, f"{value.relation} {value.bound:g} (no value)", ours, value.verdict()]
    digits = decimals(value.printed) + (2 if value.error else 1)
    ours = f"{value.ours:.3g}" if "e" in value.printed else f"{value.ours:.{digits}f}"
    if value.error:
        ours += f" +- {value.error:.4f}"
    return [name, value.printed, ours, value.verdict()]


def section(entry: Entry, values: list[Any]) -> list[str]:
    """Return the lines of an entry in Markdown."""
    agree = sum(value.agrees() for value in values)
    lines = [f"## {entry.title}", "", f"{entry.source}: {agree} of {len(values)} values agree."]
    if entry.note:
        lines[-1] += f" {entry.note}"
    if entry.draw is not None:
        lines += ["", f"![{entry.title}]({FIGURES}/{entry.name}.png)"]
    lines += ["", "| value | printed | ours | verdict |", "| --- | --- | --- | --- |"]
    return [*lines, *(f"| {' | '.join(cells(value))} |" for value in values), ""]


def drawn(entry: Entry, outcome: tuple[Any, ...], folder: Path) -> None:
    """Draw the figure of an entry into a folder."""
    from matplotlib.figure import Figure

    if entry.draw is None:
        return
    figure = Figure(figsize=entry.figure, layout="constrained")
    entry.draw(figure, *outcome)
    folder.mkdir(parents=True, exist_ok=True)
    # Without the version of matplotlib, so that a figure that has not changed keeps its bytes.
    figure.savefig(folder / f"{entry.name}.png", dpi=90, metadata={"Software": None})


def html(markdown: str, folder: Path) -> str:
    """Return the page as one file that holds its figures."""
    from markdown_it import MarkdownIt

    def embedded(match: re.Match[str]) -> str:
        content = base64.b64encode((folder / match[1]).read_bytes()).decode("ascii")
        return f'src="data:image/png;base64,{content}"'

    body = MarkdownIt().enable("table").render(markdown)
    body = re.sub(r'src="([^"]+\.png)"', embedded, body)
    return f"<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n{STYLE}\n{body}</html>\n"


def main() -> int:
    """Compute and print what is asked for."""
    names = [entry.name for entry in ENTRIES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("names", nargs="+", choices=[*names, "all"], metavar="NAME")
    parser.add_argument("--full", action="store_true", help="sizes of the papers (hours)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path, help="folder for results of long entries")
    parser.add_argument("--page", type=Path, help="file for a page in Markdown")
    parser.add_argument("--html", type=Path, help="file for a page in HTML; needs --page")
    options = parser.parse_args()
    if options.html is not None and options.page is None:
        parser.error("--html needs --page, beside which the figures are written")
    warnings.simplefilter("ignore", UserWarning)  # advice about settings, which are the papers'
    scale = Scale(options.data, "full" if options.full else "default", options.jobs)
    wanted = [entry for entry in ENTRIES if {"all", entry.name} & set(options.names)]
    differ, page = 0, [*HEAD]
    for entry in wanted:
        start = time.perf_counter()
        outcome = entry.outcome(scale, options.results)
        values = list(entry.values(*outcome))
        lines = section(entry, values)
        print("\n".join(lines), f"\n{time.perf_counter() - start:.1f} s\n", flush=True)
        differ += sum(not value.agrees() for value in values)
        page += lines
        if options.page is not None:
            drawn(entry, outcome, options.page.parent / FIGURES)
    if options.page is not None:
        text = "\n".join(page).rstrip() + "\n"
        options.page.write_text(text, encoding="utf-8")
        if options.html is not None:
            options.html.write_text(html(text, options.page.parent), encoding="utf-8")
    print(f"{len(wanted)} entries, {differ} values differ")
    return int(differ > 0)


STYLE = """<title>The papers, reproduced</title>
<style>
body { font: 15px/1.45 sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-size: 13px }
th, td { border-bottom: 1px solid #ddd; padding: .15rem .6rem; text-align: left }
img { max-width: 100% }
</style>"""

HEAD = [
    "# The papers, reproduced",
    "",
    "Tables and figures of the documents that duramen follows, computed again beside what was",
    "printed: `python -m benchmarks.papers all --results benchmarks/papers/results --page",
    "docs/papers.md` writes this page, and `--html FILE` the same as one file. *Equal* means every",
    "printed digit, rounded or cut as the paper does. Values of finite forests agree within 3.5",
    "standard errors of a forest of as many trees. Printed values that are wrong are compared with",
    "the corrected ones, and link to the proof. A row without a printed value checks a statement",
    "of the text or of a drawing; if that does not hold here, the row links to the reason, and the",
    "opposite is checked. Entries that take long have the reduced size that they state; `--full`",
    "computes them at the size of the paper.",
    "",
]


if __name__ == "__main__":
    sys.exit(main())
