"""
Shape of an effect
==================

Accumulated local effect of the body mass index on the progression of diabetes a year later
(Efron et al. 2004), in the prediction of a forest.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

import duramen as dm

data = load_diabetes(as_frame=True)
forest = dm.RandomForestRegressor(200, min_samples_leaf=5, random_state=0)
forest.fit(data.data, data.target)
effect = dm.effects.accumulated_local_effects(forest, data.data, "bmi")
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.effect(effect, ax=ax)
