"""Results of computations, with printing, data frames, saving and loading."""
