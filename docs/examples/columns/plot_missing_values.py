"""
Categories and missing values
=============================

Findings of 339 patients and the site of their primary tumor, 22 classes (Ljubljana). Values
that are missing stay missing: nothing is imputed.
"""

import matplotlib.pyplot as plt

import duramen as dm

tumor = dm.datasets.load_primary_tumor()
table = dm.encode(tumor.X)
forest = dm.RandomForestClassifier(300, random_state=0).fit(table, tumor.y)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.ranking(dm.importances.mdi(forest, table, tumor.y), k=17, ax=ax)
