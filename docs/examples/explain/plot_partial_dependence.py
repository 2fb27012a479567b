"""
Partial dependence
==================

Mean prediction of the progression of diabetes where the blood pressure of all patients is set to a
value.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import duramen as dm

data = load_diabetes(as_frame=True)
forest = dm.RandomForestRegressor(200, min_samples_leaf=5, random_state=0)
forest.fit(data.data, data.target)
effect = dm.effects.partial_dependence(forest, data.data, "bp")
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.effect(effect, ax=ax)
