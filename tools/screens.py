"""Compare the screens of pages with what their code prints, or write them.

    python tools/screens.py [--write]

A screen is the block of text after the comment ``<!-- screen -->``: what the block of Python, or
the last command of the block, before it prints to standard output. The blocks of a page run in
order in a folder of their own, as in ``tests/test_docs.py``, which fails where a screen differs.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = [DOCS / "index.md", *sorted((DOCS / "start").glob("*.md"))]
BLOCK = re.compile(
    r"(?P<mark><!-- screen -->\n)?^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```\s*$",
    re.MULTILINE | re.DOTALL,
)


def screen(output: str) -> str:
    """Return the output of a command without trailing spaces and outer empty lines."""
    lines = [line.rstrip() for line in output.splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def commands(code: str) -> list[list[str]]:
    """Return the words of the calls of duramen in a shell block, without its name."""
    lines = code.replace("\\\n", " ").splitlines()
    calls = [shlex.split(line, comments=True) for line in lines]
    return [words[1:] for words in calls if words and words[0] == "duramen"]


def written(text: str) -> str:
    """Run the blocks of a page in this folder, and return the page with their screens."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    parts, end, printed = list[str](), 0, ""
    for block in BLOCK.finditer(text):
        if block["language"] == "python":
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(block["code"], "page", "exec"), namespace)
            printed = output.getvalue()
        elif block["language"] == "sh":
            for words in commands(block["code"]):
                call = [sys.executable, "-m", "duramen", *words]
                environment = {**os.environ, "COLUMNS": "80"}
                done = subprocess.run(
                    call, check=True, stdout=subprocess.PIPE, text=True, env=environment
                )
                printed = done.stdout
        elif block["mark"]:
            parts += [text[end : block.start("code")], screen(printed)]
            end = block.end("code")
    return "".join([*parts, text[end:]])


def main() -> int:
    """Compare or write all pages; 1 where one differs."""
    write, differ = "--write" in sys.argv[1:], 0
    here = Path.cwd()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if "<!-- screen -->" not in text:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            new = written(text)
            os.chdir(here)
        if new == text:
            continue
        if write:
            page.write_text(new, encoding="utf-8")
        else:
            differ += 1
            print(f"{page}: a screen differs; python tools/screens.py --write writes it")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
