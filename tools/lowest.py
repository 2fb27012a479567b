"""Print the lowest versions that pyproject.toml allows of what the package and its extras need.

One requirement a line, for ``pip install --requirement`` and ``--constraint``; see `make lowest`.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def lowest(requirement: str) -> str:
    """Return a requirement ``name>=version`` as ``name==version``; others are refused."""
    match = re.fullmatch(r"([A-Za-z0-9._-]+)\s*>=\s*([0-9][0-9.]*)", requirement)
    if match is None:
        raise SystemExit(f"tools/lowest.py: {requirement!r} of {PROJECT.name} has no lower bound")
    return f"{match[1]}=={match[2]}"


def main() -> None:
    """Print them."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for requirement in (
        *project["dependencies"],
        *(requirement for extra in extras for requirement in extra),
    ):
        print(lowest(requirement))


if __name__ == "__main__":
    main()
