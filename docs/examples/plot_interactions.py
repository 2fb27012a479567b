"""
Interactions
============

The strongest interactions of the diabetes set, a part of each prediction that two columns bring
together only.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import duramen as dm

data = load_diabetes(as_frame=True)
forest = dm.RandomForestRegressor(100, min_samples_leaf=5, random_state=0)
forest.fit(data.data, data.target)
pairs = dm.importances.interactions(forest, data.data)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.interaction_matrix(pairs, ax=ax)
