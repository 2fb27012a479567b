"""The long form: ``python -m tests.faults --attempts 2000`` prints counts, and what went wrong."""

from __future__ import annotations

import argparse
import sys

from tests.faults.batches import run

KINDS = ("crafted_stores", "crafted_forests", "damaged_files")


def main() -> int:
    """Run the attempts; 1 where any of them went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--attempts", type=int, default=2000, help="attempts of all kinds together")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first attempt of a kind"
    )
    asked = parser.parse_args()
    each = -(-asked.attempts // len(KINDS))
    faults: list[str] = []
    for kind in KINDS:
        outcomes = run(kind, range(asked.first, asked.first + each), timeout=1800.0)
        print(f"{kind}: {outcomes}", flush=True)
        faults += outcomes.faults
    print(*faults, f"{len(faults)} faults", sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
