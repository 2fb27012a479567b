"""Draws notebook.png: a result as a notebook shows it, in a browser."""

import sys
import tempfile
from pathlib import Path

import duramen as dm

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.reports.browser import missing, opened  # noqa: E402

if missing():
    sys.exit(f"notebook.png was not drawn: {missing()}")
leukemia = dm.datasets.load_leukemia()
data = dm.learning_set(leukemia.X, leukemia.y, names=leukemia.names)
forest = dm.RandomForestClassifier(500, random_state=0).fit(data)
with dm.config_context(max_rows=6):
    table = dm.importances.mdi(forest)._repr_html_()
look = "body {font: 13px sans-serif} td, th {padding: 2px 8px} #result {display: inline-block}"
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "notebook.html"
    file.write_text(
        f'<meta charset="utf-8"><style>{look}</style><div id="result">{table}</div>',
        "utf-8",
    )
    with opened(file, "desktop") as (page, _):
        page.locator("#result").screenshot(path=HERE / "notebook.png")
