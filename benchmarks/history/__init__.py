"""Cases for asv: speed over the history of the repository."""
