"""Draws report.png and report-phone.png: the report of `duramen rank --demo` in a browser."""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.reports.browser import missing, opened  # noqa: E402

if missing():
    sys.exit(f"report.png and report-phone.png were not drawn: {missing()}")
with tempfile.TemporaryDirectory() as folder:
    out = Path(folder) / "out"
    command = [sys.executable, "-m", "duramen", "rank", "--demo", "--quiet", "--out", str(out)]
    subprocess.run(command, check=True)
    for screen, name in (("desktop", "report.png"), ("phone", "report-phone.png")):
        with opened(out / "report.html", screen) as (page, _):
            page.screenshot(path=HERE / name)
