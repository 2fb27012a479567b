"""Biases of importances (thesis 4.4.5): a module for each, with theory and an experiment.

Each module has `DATA_SETS`, the number of simulated data sets by default, and
``tables(data_sets, seed)``, which yields the tables of its page in docs/biases, the exact ones
first.
"""
