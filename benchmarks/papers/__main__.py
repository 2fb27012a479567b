"""The tables and figures of the papers, computed again.

``python -m benchmarks.papers NAME ...`` prints the values of some entries beside the printed ones,
``all`` those of all; an entry whose data are absent is left out, with their source. Entries that
take long are computed at a reduced size, with ``--full`` at the size of the paper. ``--results
DIR`` keeps their results, and reads those that are there. ``--page FILE`` writes the values and the
figures as a page in Markdown, ``--html FILE`` as one file in HTML. The exit status is 1 where any
verdict fails.
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
from benchmarks.papers.entries import DATA, Claim, Entry, Scale, Value, decimals

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


def tally(values: list[Any]) -> str:
    """Return the number of printed values that agree, and of statements that hold."""
    printed = [value for value in values if isinstance(value, Value)]
    compared = [value for value in printed if not value.needs]
    claims = [value for value in values if isinstance(value, Claim)]
    parts = []
    if compared:
        right = sum(
            value.agrees() and not value.erratum and not value.exception for value in compared
        )
        parts.append(f"{right} of {len(compared)} printed values agree")
        for what, number in (
            ("wrong in print", sum(bool(value.erratum) for value in compared)),
            ("different here", sum(bool(value.exception) for value in compared)),
        ):
            if number:
                parts.append(f"{number} {'is' if number == 1 else 'are'} {what}")
    if claims:
        holds = sum(claim.agrees() and not claim.exception for claim in claims)
        parts.append(f"{holds} of {len(claims)} statements hold")
    if absent := len(printed) - len(compared):
        folders = ", ".join(dict.fromkeys(value.needs for value in printed if value.needs))
        verb = "needs" if absent == 1 else "need"
        parts.append(f"{absent} more {verb} [data](#absent-data) that are absent ({folders})")
    return ", ".join(parts) + "."


def section(entry: Entry, values: list[Any]) -> list[str]:
    """Return the lines of an entry in Markdown."""
    place = ""
    if entry.lines is not None:
        document, first, last = entry.lines
        span = f"line {first}" if first == last else f"lines {first} to {last}"
        place = f" ({document}, {span})"
    lines = [f"## {entry.title}", "", f"{entry.source}{place}: {tally(values)}"]
    for remark in (entry.tolerance, entry.note):
        if remark:
            lines[-1] += f" {remark}"
    if entry.draw is not None:
        lines += ["", f"![{entry.title}]({FIGURES}/{entry.name}.png)"]
    lines += ["", "| value | printed | ours | verdict |", "| --- | --- | --- | --- |"]
    rows = [cells(value) for value in values if not getattr(value, "needs", "")]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


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
    """Compute and print the entries named on the command line."""
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
    if options.page is not None and any(entry.absent(scale, options.results) for entry in wanted):
        parser.error("--page needs the data of every entry, or their --results")
    differ, left_out, page = 0, 0, [*HEAD]
    for entry in wanted:
        if missing := entry.absent(scale, options.results):
            left_out += 1
            print(f"## {entry.title}\n\n{entry.source}: left out, as data are absent.")
            for name in missing:
                print(f"- {scale.data / name} ({DATA[name]})")
            size = " --full" if options.full else ""
            print(f"Read them with: python -m benchmarks.papers {entry.name}{size} --data FOLDER\n")
            continue
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
        text = "\n".join([*page, *ABSENT]).rstrip() + "\n"
        options.page.write_text(text, encoding="utf-8")
        if options.html is not None:
            options.html.write_text(html(text, options.page.parent), encoding="utf-8")
    print(f"{len(wanted)} entries, {left_out} left out, {differ} values differ")
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
    "computes them at the size of the paper. Line numbers are those of the texts extracted from",
    "the documents, of which each printed value here is checked to be in these lines.",
    "",
]

ABSENT = [
    "## Absent data",
    "",
    "These data of the documents are not at hand. An entry whose data are absent is left out by",
    "`python -m benchmarks.papers all`, which names their folders and sources, and computes the",
    "others. `NAME/data.parquet` has a column `y`, and a column for each feature.",
    "",
    "| data | of | source | read by |",
    "| --- | --- | --- | --- |",
    "| lymphoma | Paul, Tables 1, 2 | Alizadeh et al. (2000) | `python -m benchmarks.papers "
    "paul-table-1 paul-table-2 --data FOLDER`, from `FOLDER/lymphoma/data.parquet` |",
    "| prostate | Paul, Tables 1, 2 | Singh et al. (2002) | the same, from "
    "`FOLDER/prostate/data.parquet` |",
    "| breast2, cina0, isolet, marti0, reged0, secom, mnist, mnist3v8, mnist4v9, sido0, tis | "
    "thesis, Tables 7.C.2, 7.C.3 | UCI, causality challenge | `python -m benchmarks.papers "
    "thesis-table-7-c-2 --data FOLDER`, from `FOLDER/NAME/data.parquet` |",
    "| tcga-gbm-tcr: 32 genes of T-cell receptor signaling | thesis, Figure 6.1 | TCGA; Mohan et "
    "al. (2014) | `python -m benchmarks.papers thesis-figure-6-1 --data FOLDER`, from "
    "`FOLDER/tcga-gbm-tcr/data.parquet`; `y` is the subtype |",
    "| chalearn-fluorescence | thesis, Tables 8.3.1, 8.A.1, 8.A.2 | connectomics challenge 2014, "
    "Kaggle | `python -m benchmarks.papers thesis-table-8-3-1 thesis-table-8-a-1 "
    "thesis-table-8-a-2 --full --data FOLDER`, from "
    "`FOLDER/chalearn-fluorescence/fluorescence_normal-1.txt` and `network_normal-1.txt` to 4 |",
    "",
]


if __name__ == "__main__":
    sys.exit(main())
