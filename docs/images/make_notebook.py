"""Writes notebook.html, a result as a notebook shows it; notebook.png is a picture of that page."""

from pathlib import Path

import duramen as dm

leukemia = dm.datasets.load_leukemia()
data = dm.learning_set(leukemia.X, leukemia.y, names=leukemia.names)
forest = dm.RandomForestClassifier(500, random_state=0).fit(data)
with dm.config_context(max_rows=6):
    table = dm.importances.mdi(forest)._repr_html_()
style = "<style>body {font: 13px sans-serif} td, th {padding: 2px 8px}</style>"
page = f'<meta charset="utf-8">{style}{table}'
Path(__file__).with_name("notebook.html").write_text(page, encoding="utf-8")
