"""
Minimal depth
=============

Levels by which the first split on a column of the wine set is nearer to the root than by chance.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import duramen as dm

data = load_wine(as_frame=True)
forest = dm.RandomForestClassifier(500, random_state=0).fit(data.data, data.target)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.ranking(dm.importances.minimal_depth(forest), k=13, ax=ax)
