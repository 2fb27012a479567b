"""
One patient
===========

Local MDI: which measurements gave how many bits about the class of one patient of the breast cancer
set.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import duramen as dm

data = load_breast_cancer(as_frame=True)
forest = dm.RandomForestClassifier(200, random_state=0).fit(data.data, data.target)
local = dm.importances.local_mdi(forest, data.data, data.target)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.waterfall(local, row=0, ax=ax)
