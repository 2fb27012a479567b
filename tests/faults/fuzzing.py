"""Inputs that a fuzzer makes, guided by what code they reach (atheris), or made at random.

A target is a module with ``seeds()``, a list of bytes, ``WORDS`` to put in, and ``check(data,
folder)``, which returns an outcome for any bytes or raises. ``python -m tests.faults.fuzzing
files.fuzz_text -max_total_time=300`` runs one under atheris, and ``make fuzz`` all of them; the
attempts of the harness alter the seeds at random, without it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

WATCHED = ["duramen.results", "duramen.data", "duramen.io"]  # what guides the fuzzer


def altered(random: np.random.Generator, seeds: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """Return a seed, as it is or with some bytes changed, cut, repeated, or words put in."""
    data = bytearray(seeds[int(random.integers(len(seeds)))])
    for _ in range(int(random.integers(5))):
        at = int(random.integers(len(data) + 1))
        end = min(len(data), at + int(random.integers(1, 12)))
        how = int(random.integers(6))
        if how == 0:
            data[at:end] = b""
        elif how == 1:
            data[at:at] = data[at:end] * int(random.integers(1, 4))
        elif how == 2:
            data[at:end] = bytes(random.integers(0, 256, end - at, dtype=np.uint8))
        else:
            data[at : at + how - 3] = words[int(random.integers(len(words)))]
    return bytes(data)


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def main() -> None:
    """Run atheris on a target: its name, then the arguments of libFuzzer."""
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        for name in WATCHED:
            import_module(name)
    target = import_module(f"tests.faults.{sys.argv[1]}")
    with tempfile.TemporaryDirectory() as place:
        corpus = Path(place) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(target.seeds()):
            (corpus / f"seed{number}").write_bytes(seed)
        words = Path(place) / "words"
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.WORDS))

        def check_input(data: bytes) -> None:
            with tempfile.TemporaryDirectory(dir=place) as folder:
                target.check(data, Path(folder))

        atheris.Setup([sys.argv[1], f"-dict={words}", *sys.argv[2:], str(corpus)], check_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
