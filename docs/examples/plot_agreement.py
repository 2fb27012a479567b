"""
Agreement of measures
=====================

Spearman's rank correlation of four measures on the wine set.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import duramen as dm

data = load_wine(as_frame=True)
forest = dm.RandomForestClassifier(300, random_state=0).fit(data.data, data.target)
measures = dm.importances
comparison = measures.compare(
    [
        measures.mdi(forest),
        measures.mda(forest, data.data, data.target),
        measures.frequency(forest),
        measures.minimal_depth(forest),
    ]
)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.rank_correlations(comparison, ax=ax)
