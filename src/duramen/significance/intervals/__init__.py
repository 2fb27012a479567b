"""Standard errors and confidence intervals of importances."""
