"""Type I errors of tests, by simulated designs."""
