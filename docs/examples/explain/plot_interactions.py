"""
Interactions
============

Interactions of pairs in the diabetes set, in the variance of the target: blue where two columns
tell more together than each alone, orange where they tell the same.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import duramen as dm

data = load_diabetes(as_frame=True)
forest = dm.RandomForestRegressor(100, min_samples_leaf=5, random_state=0)
forest.fit(data.data, data.target)
pairs = dm.importances.interactions(forest, data.data)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.interaction_network(pairs, ax=ax)
