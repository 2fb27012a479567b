"""
Links between neurons
=====================

Precision and recall of links found in a simulated culture, by partial correlation and by Pearson's
correlation.
"""

import matplotlib.pyplot as plt

import duramen as dm

wiring = dm.datasets.culture_wiring(30, n_links=120, random_state=0)
culture = dm.datasets.calcium_culture(6000, wiring=wiring, strength=20.0, random_state=0)
scores = {
    method: dm.connectome(culture, method=method, gold=culture.links).scores
    for method in ("partial_correlation", "pearson")
}
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.precision_recall(scores, ax=ax)
