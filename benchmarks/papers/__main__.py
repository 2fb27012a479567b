"""The tables of the papers, computed again.

``python -m benchmarks.papers NAME ...`` prints the values of some entries beside the printed ones,
``all`` those of all; ``--page FILE`` writes them as a page. The exit status is 1 where any differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.papers import louppe, slides, srs, thesis
from benchmarks.papers.entries import Entry, Value, decimals

ENTRIES = (*louppe.ENTRIES, *slides.ENTRIES, *srs.ENTRIES, *thesis.ENTRIES)


def section(entry: Entry, values: list[Value]) -> list[str]:
    """Return the lines of an entry in Markdown."""
    equal = sum(value.agrees() for value in values)
    lines = [f"## {entry.title}", "", f"{entry.source}: {equal} of {len(values)} values agree."]
    lines += ["", "| value | printed | ours | verdict |", "| --- | --- | --- | --- |"]
    for value in values:
        digits = decimals(value.printed) + (2 if value.error else 1)
        ours = f"{value.ours:.3g}" if "e" in value.printed else f"{value.ours:.{digits}f}"
        if value.error:
            ours += f" +- {value.error:.4f}"
        name = value.what.replace("|", "\\|")
        lines.append(f"| {name} | {value.printed} | {ours} | {value.verdict()} |")
    return [*lines, ""]


def main() -> int:
    """Compute and print what is asked for."""
    names = [entry.name for entry in ENTRIES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("names", nargs="+", choices=[*names, "all"], metavar="NAME")
    parser.add_argument("--page", type=Path, help="file for a page in Markdown")
    asked = parser.parse_args()
    wanted = [entry for entry in ENTRIES if {"all", entry.name} & set(asked.names)]
    differ, page = 0, [*HEAD]
    for entry in wanted:
        start = time.perf_counter()
        values = list(entry.values())
        lines = section(entry, values)
        print("\n".join(lines), f"\n{time.perf_counter() - start:.1f} s\n", flush=True)
        differ += sum(not value.agrees() for value in values)
        page += lines
    if asked.page is not None:
        asked.page.write_text("\n".join(page).rstrip() + "\n", encoding="utf-8")
    print(f"{len(wanted)} entries, {differ} values differ")
    return int(differ > 0)


HEAD = [
    "# The papers, reproduced",
    "",
    "Tables of the documents that duramen follows, computed again beside what was printed:",
    "`python -m benchmarks.papers all --page docs/papers.md` writes this page. *Equal* means every",
    "printed digit, rounded or cut as the paper does. Values of finite forests agree within 3.5",
    "standard errors of a forest of as many trees. Printed values that are wrong are compared with",
    "the corrected ones, and link to the proof.",
    "",
]


if __name__ == "__main__":
    sys.exit(main())
