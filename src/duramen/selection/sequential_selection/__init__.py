"""Sequential searches for a set of features with the best score of a learner."""
