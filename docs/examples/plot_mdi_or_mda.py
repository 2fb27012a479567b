"""
Three measures, side by side
============================

MDI on training rows, MDI on out-of-bag rows and MDA of one forest on the breast cancer set of
Wisconsin. Lines that cross are features on which the measures disagree: correlated features divide
MDI, and can replace each other when one is permuted, so that their MDA is small.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import duramen as dm

data = load_breast_cancer(as_frame=True)
forest = dm.RandomForestClassifier(300, random_state=0).fit(data.data, data.target)
measures = dm.importances
comparison = measures.compare(
    {
        "MDI": measures.mdi(forest),
        "MDI-oob": measures.mdi(forest, data.data, data.target),
        "MDA": measures.mda(forest, data.data, data.target),
    }
)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.parallel_ranks(comparison, k=12, ax=ax)
