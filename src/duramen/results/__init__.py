"""Results of computations: how they print, become a data frame, are saved and loaded."""
