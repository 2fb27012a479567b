"""
Copies divide an importance
===========================

Nine noisy copies of the most important column of the wine set: each of the ten looks less important
than columns that were behind it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import duramen as dm

data = load_wine(as_frame=True)
random = np.random.default_rng(0)
proline = data.data["proline"]
copies = {
    f"proline, copy {j}": proline + random.normal(0, 0.05 * proline.std(), len(proline))
    for j in range(9)
}
forest = dm.RandomForestClassifier(300, random_state=0)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.ranking(
    dm.importances.mdi(forest.fit(data.data.assign(**copies), data.target)), k=22, ax=ax
)
