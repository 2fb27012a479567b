"""
Importance by interaction degree
================================

MDI is a sum over interaction degrees: degree 0 are splits at the root, where a feature acts by
itself, and degree k those below k other splits. The genes act high in the trees.
"""

import matplotlib.pyplot as plt

import duramen as dm

leukemia = dm.datasets.load_leukemia()
forest = dm.RandomForestClassifier(500, random_state=0).fit(leukemia.X, leukemia.y)
importances = dm.importances.mdi(forest, by_degree=True)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.by_degree(importances, k=12, ax=ax)
