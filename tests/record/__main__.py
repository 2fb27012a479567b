"""Compare results with their records, or record them: ``python -m tests.record [--update] [CASE]``.

A case is named by its record, such as ``rank/strata``, or by a pattern, such as ``'rank/*'``.
``--update`` prints what changed, cell by cell, and writes the new records.
"""

from __future__ import annotations

import argparse
import sys
import time
from fnmatch import fnmatch


def main() -> int:
    """Run the command; return 1 if a result differs from its record."""
    parser = argparse.ArgumentParser(prog="python -m tests.record", description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the records of the cases")
    parser.add_argument("--slowest", type=int, default=0, help="print the N slowest cases")
    parser.add_argument("cases", nargs="*", help="names or patterns of cases (default: all)")
    arguments = parser.parse_args()

    from tests.record import comparison
    from tests.record.cases import cases

    table = cases()
    patterns = arguments.cases or ["*"]
    names = [name for name in table if any(fnmatch(name, pattern) for pattern in patterns)]
    if not names:
        print(f"no case matches {patterns}", file=sys.stderr)
        return 2
    count, seconds = 0, {}
    for name in names:
        start = time.perf_counter()
        try:
            outcome = table[name].outcome()
            changes = comparison.differences(table[name], outcome)
        except Exception as error:  # the other cases run all the same
            outcome, changes = None, [f"{type(error).__name__}: {error}"]
        seconds[name] = time.perf_counter() - start
        count += bool(changes)
        for change in changes:
            print(f"{name}: {change}")
        if arguments.update and outcome is not None:
            comparison.update(table[name], outcome, changed=bool(changes))
    for name in sorted(comparison.recorded() - set(table)):
        print(f"{name}: a record without a case")
        count += 1
        if arguments.update and not arguments.cases:
            comparison.path(name).unlink()
    for name in sorted(seconds, key=lambda name: -seconds[name])[: arguments.slowest]:
        print(f"{seconds[name]:6.2f} s  {name}")
    print(f"{len(names)} cases, {count} differ, {sum(seconds.values()):.0f} s")
    return 0 if arguments.update else int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
