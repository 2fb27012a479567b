"""
Importances from random subsets of the features
===============================================

Monte Carlo feature selection of 16 simulated features, two of which decide the class. The line is
the cut-off from runs with shuffled classes.
"""

import matplotlib.pyplot as plt
import numpy as np

import duramen as dm

random = np.random.default_rng(0)
X = random.normal(size=(120, 16))
y = X[:, 0] + X[:, 1] > 0
result = dm.importances.mcfs(X, y, n_subsets=80, n_splits=2, n_permutations=20, random_state=0)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
result.plot("ranking", k=16, ax=ax)
