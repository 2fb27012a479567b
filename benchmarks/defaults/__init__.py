"""Choice of the defaults of `duramen rank`, and its verdicts."""
