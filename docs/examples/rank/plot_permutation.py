"""
Permutation importance, plain and conditional
=============================================

A noisy copy of a relevant feature has less importance if it is permuted among rows that agree on
the associated features than if it is permuted freely.
"""

import matplotlib.pyplot as plt
import numpy as np

import duramen as dm

random = np.random.default_rng(0)
X = random.normal(size=(300, 8))
X[:, 1] = X[:, 0] + 0.5 * random.normal(size=300)
y = (X[:, 0] + 0.8 * X[:, 2] + 0.5 * random.normal(size=300) > 0).astype(int)
names = ["signal", "noisy copy", "second signal", *(f"noise {j}" for j in range(5))]
table = dm.encode(X, names=names)
forest = dm.RandomForestClassifier(300, min_samples_leaf=10, random_state=0).fit(table, y)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
dm.plots.ranking(dm.importances.mda(forest, table, y), ax=left)
left.set_title("permuted freely")
dm.plots.ranking(dm.importances.conditional_mda(forest, table, y), ax=right)
right.set_title("given the associated features")
