"""Commands, a file each: options, computation and report."""
