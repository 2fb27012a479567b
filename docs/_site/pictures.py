"""Pictures that the build draws: one for each ``docs/images/make_*.py``.

Git does not keep them, so that none shows what an older version drew; the picture of the README is
kept, and tests/plots/test_readme.py draws it again. Pictures of measured results are kept too: the
programs under benchmarks/ draw them together with the tables of the same page.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import duramen

IMAGES = Path(__file__).resolve().parents[1] / "images"
PACKAGE = Path(duramen.__file__).parent


def changed(file: Path) -> float:
    """Return when a file was changed; before everything else if there is none."""
    return file.stat().st_mtime if file.exists() else 0.0


def draw(app: Sphinx) -> None:
    """Draw the pictures that are older than their program or than the package."""
    package = max(changed(file) for file in PACKAGE.rglob("*") if file.suffix in {".py", ".so"})
    for program in sorted(IMAGES.glob("make_*.py")):
        picture = IMAGES / f"{program.stem.removeprefix('make_')}.png"
        if changed(picture) > max(package, changed(program)):
            continue
        result = subprocess.run(
            [sys.executable, str(program)], capture_output=True, text=True, check=False
        )
        if result.returncode != 0:
            raise ExtensionError(f"{program} failed:\n{result.stdout}{result.stderr}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw before pages are read."""
    app.connect("builder-inited", draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
