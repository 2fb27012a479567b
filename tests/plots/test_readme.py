"""The picture of the README is what the code draws now."""

import io
import runpy
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from PIL import Image

DIFFERENCE = 0.5  # of a color, from 0 to 255, on average; another seed makes 11


@pytest.mark.slow
def test_the_picture_of_the_readme_is_drawn_by_the_code(root: Path) -> None:
    images = root / "docs" / "images"
    assert "docs/images/ranking.png" in (root / "README.md").read_text(encoding="utf-8")
    now = runpy.run_path(str(images / "make_ranking.py"))
    with Image.open(images / "ranking.png") as stored:
        assert stored.text["Description"] == f"{now['numbers']}", "run docs/images/make_ranking.py"
        # Versions of matplotlib differ in the places of texts.
        if f"version{matplotlib.__version__}," not in stored.text["Software"]:
            return
        drawn = io.BytesIO()
        now["figure"].savefig(drawn, format="png")
        with Image.open(drawn) as again:
            assert stored.size == again.size
            colors = [np.asarray(image.convert("RGB"), dtype=float) for image in (stored, again)]
    assert np.abs(colors[0] - colors[1]).mean() < DIFFERENCE
