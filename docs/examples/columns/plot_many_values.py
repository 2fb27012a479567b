"""
Columns of many values
======================

Two columns of noise, of 2 and of 178 values, beside the wine set. MDI on training rows favors the
one of many values; on out-of-bag rows both are near 0.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import duramen as dm

data = load_wine(as_frame=True)
random = np.random.default_rng(0)
noise = {"two values": random.integers(0, 2, 178), "all values": random.normal(size=178)}
X = data.data.assign(**noise)
forest = dm.RandomForestClassifier(300, max_features=1, random_state=0).fit(X, data.target)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
dm.plots.ranking(dm.importances.mdi(forest), ax=left)
dm.plots.ranking(dm.importances.mdi(forest, X, data.target, rows="oob"), ax=right)
