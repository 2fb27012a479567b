"""Compare all results with their pins, or pin them: ``python -m tests.contracts [--pin KEYS]``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from fnmatch import fnmatch


def main() -> int:
    """Run the command; 1 where a result differs from its pin."""
    parser = argparse.ArgumentParser(prog="python -m tests.contracts", description=__doc__)
    parser.add_argument("--pin", action="store_true", help="write the digests of the cases")
    parser.add_argument("--generic", action="store_true", help="use the kernel for any processor")
    parser.add_argument("--jobs", default="1", help="threads of the cases (default: 1)")
    parser.add_argument("--slowest", type=int, default=0, help="print the N slowest cases")
    parser.add_argument("keys", nargs="*", help="keys or patterns of cases (default: all)")
    asked = parser.parse_args()
    os.environ["DURAMEN_CONTRACT_JOBS"] = asked.jobs
    if asked.generic:
        from tests.contracts.kernels import use_generic

        use_generic()
    return compare(asked.keys, pin=asked.pin, slowest=asked.slowest)


def compare(keys: list[str], *, pin: bool, slowest: int) -> int:
    """Pin the cases that match, or print what differs from the pins."""
    from tests.contracts import pins
    from tests.contracts.registry import cases

    table = cases()
    chosen = [
        case
        for key, case in table.items()
        if not keys or any(fnmatch(key, difference) for difference in keys)
    ]
    if not chosen:
        print(f"no case matches {keys}", file=sys.stderr)
        return 2
    if pin:
        pins.pin(chosen, table)
        print(f"{len(chosen)} of {len(table)} cases pinned")
        return 0
    pinned, seconds, differences = pins.pinned(), {}, []
    for case in chosen:
        start = time.perf_counter()
        try:
            differences.append(pins.difference(case, pinned.get(case.key)))
        except Exception as error:  # the others are compared all the same
            differences.append(f"{case.key}: {type(error).__name__}: {error}")
        seconds[case.key] = time.perf_counter() - start
    for key in sorted(seconds, key=lambda key: -seconds[key])[:slowest]:
        print(f"{seconds[key]:6.2f} s  {key}")
    results = [difference for difference in differences if difference is not None]
    print(*results, f"{len(chosen)} cases, {len(results)} differ", sep="\n")
    return int(bool(results))


if __name__ == "__main__":
    sys.exit(main())
