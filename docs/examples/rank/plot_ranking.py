"""
Genes that separate two leukemias
=================================

The 7129 genes of 72 patients (Golub et al. 1999), ranked by MDI: the decrease of impurity at the
splits of a forest of 500 trees. Bars end in standard errors over trees.
"""

import matplotlib.pyplot as plt

import duramen as dm

leukemia = dm.datasets.load_leukemia()
forest = dm.RandomForestClassifier(500, random_state=0).fit(leukemia.X, leukemia.y)
importances = dm.importances.mdi(forest)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.ranking(importances, k=15, ax=ax)
