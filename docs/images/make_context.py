"""Draws context.png, the picture of the guide on contexts: the primary tumor set by sex."""

from pathlib import Path

from matplotlib.figure import Figure

import duramen as dm

tumor = dm.datasets.load_primary_tumor()
patients = tumor.X.append_column("site", [tumor.y]).drop_null()
by_sex = dm.contexts.context_importances(
    patients.drop_columns("site"),
    patients["site"],
    "sex",
    estimator=dm.TotallyRandomizedTreesClassifier(200, splits="auto"),
    n_permutations=499,
    random_state=0,
)
figure = Figure(figsize=(8, 5), layout="constrained")
for panel, value in zip(figure.subplots(1, 2, sharey=True), by_sex.contexts, strict=True):
    dm.plots.context_effects(by_sex, value, control="none", ax=panel)
    panel.set_title(f"sex = {value}")
figure.savefig(Path(__file__).with_name("context.png"), dpi=110)
