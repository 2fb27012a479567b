"""
Findings that depend on sex
===========================

Which findings are more or less informative about the site of a primary tumor in women or in men.
Filled marks are significant; with 99 permutations and 32 tests, none is.
"""

import matplotlib.pyplot as plt

import duramen as dm

tumor = dm.datasets.load_primary_tumor()
patients = tumor.X.append_column("site", [tumor.y]).drop_null()
effects = dm.contexts.context_importances(
    patients.drop_columns("site"),
    patients["site"],
    "sex",
    estimator=dm.TotallyRandomizedTreesClassifier(50, splits="auto"),
    n_permutations=99,
    random_state=0,
)
canvas = plt.figure(figsize=(8, 5), layout="constrained")
panels = canvas.subplots(1, 2, sharey=True)
for panel, value in zip(panels, effects.contexts, strict=True):
    dm.plots.context_effects(effects, value, k=10, ax=panel)
    panel.set_title(value)
