"""
Confidence intervals of importances
===================================

Other patients would give other importances. Forests on subsamples of the rows say how different:
95 % intervals of the permutation importances on the diabetes set.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import duramen as dm

data = load_diabetes(as_frame=True)
forest = dm.RandomForestRegressor(50)
intervals = dm.significance.confidence_intervals(
    forest, data.data, data.target, n_resamples=30, random_state=0
)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.ranking(intervals, ax=ax)
