"""
Survival by a feature
=====================

Kaplan-Meier curves of the lowest, middle and highest third of a feature that raises the hazard, in
simulated patients whose times are partly censored.
"""

import matplotlib.pyplot as plt
import numpy as np

import duramen as dm

random = np.random.default_rng(0)
marker = random.normal(size=200)
until_event = random.exponential(np.exp(-marker))
until_end = random.exponential(2.0, size=200)
y = np.empty(200, dtype=[("event", bool), ("time", float)])
y["event"], y["time"] = until_event <= until_end, np.minimum(until_event, until_end)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.against_target(marker, y, name="marker", target_name="years", ax=ax)
