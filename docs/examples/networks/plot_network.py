"""
Which measurement predicts which
================================

GENIE3 on the columns of the wine set: a forest for each column, with all others as features. The 15
links of largest weight.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import duramen as dm

data = load_wine(as_frame=True)
names = tuple(data.data.columns)
forest = dm.RandomForestRegressor(50)
network = dm.genie3(data.data.to_numpy(), names=names, estimator=forest, random_state=0)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.network_graph(network, n=15, ax=ax)
