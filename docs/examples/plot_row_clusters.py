"""
Rows with similar reasons
=========================

Local MDI of the 178 wines as a heat map, with wines of similar importances side by side.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import duramen as dm

data = load_wine(as_frame=True)
forest = dm.RandomForestClassifier(200, random_state=0).fit(data.data, data.target)
local = dm.importances.local_mdi(forest, data.data, data.target)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.row_clusters(local, k=13, ax=ax)
