"""
A feature by class
==================

Before a model: the values of one column in each class of the wine set.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import duramen as dm

data = load_wine(as_frame=True)
names = data.target_names[data.target]
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.against_target(
    data.data["flavanoids"], names, name="flavanoids", target_name="cultivar", ax=ax
)
