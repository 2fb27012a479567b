"""Bags of a forest, drawn again by counter-based random numbers in plain Python."""

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15
BAG = 1  # what the numbers of a stream are for
PURPOSE = 0xD1342543DE82EF95


def mix(z):
    """Finalizer of SplitMix64."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


class Stream:
    """Random numbers of one tree, for its bag."""

    def __init__(self, seed, tree):
        key = mix((mix((seed + GOLDEN) % WORD) + tree * GOLDEN) % WORD)
        self.state = (mix(key) + BAG * PURPOSE) % WORD

    def below(self, n):
        """Uniform on 0..n-1: the high word of 32 random bits times n, biased ones rejected."""
        while True:
            self.state = (self.state + GOLDEN) % WORD
            high, low = divmod((mix(self.state) >> 32) * n, 2**32)
            if low >= 2**32 % n:
                return high


def bag(n_rows, size, bootstrap, seed, tree):
    """Count the draws of each row for a tree; `size` 0 means all rows."""
    size = size or n_rows
    if not bootstrap and size >= n_rows:
        return [1] * n_rows
    counts, stream = [0] * n_rows, Stream(seed, tree)
    if bootstrap:
        for _ in range(size):
            counts[stream.below(n_rows)] += 1
        return counts
    for last in range(n_rows - size, n_rows):  # Floyd's sampling without replacement
        pick = stream.below(last + 1)
        counts[last if counts[pick] else pick] = 1
    return counts
