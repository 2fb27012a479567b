"""
Calcium signals, filtered
=========================

One neuron of a simulated culture: fluorescence, and what each filter leaves of it.
"""

import matplotlib.pyplot as plt

import duramen as dm

wiring = dm.datasets.culture_wiring(30, n_links=120, random_state=0)
culture = dm.datasets.calcium_culture(3000, wiring=wiring, strength=20.0, random_state=0)
dm.plots.calcium_stages(
    culture.fluorescence,
    neurons=0,
    frames=(0, 1000),
    frame_time=20,
    figure=plt.figure(figsize=(8, 5), layout="constrained"),
)
