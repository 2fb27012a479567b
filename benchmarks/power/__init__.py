"""Power of tests, beside peers."""
