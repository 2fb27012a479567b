"""The long form: ``python -m tests.faults --attempts 3000`` prints counts, and what went wrong.

With ``--record FILE``, a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.batches import FAULTS, Outcomes, run

STEP = 100  # attempts that a process makes


@dataclass(frozen=True)
class Family:
    """Attempts of one kind.

    Parameters
    ----------
    name : str
        Module of `tests.faults` with a function ``attempt(number, folder)``.
    weight : float
        Number of attempts in the long form, relative to the other families.
    timeout : float
        Seconds that the attempts of one process may take.
    """

    name: str
    weight: float = 1.0
    timeout: float = 1800.0


FAMILIES = (
    Family("files.crafted_stores", 4.0),
    Family("files.crafted_forests", 4.0),
    Family("files.crafted_results", 6.0),
    Family("files.damaged_files", 4.0),
    Family("files.damaged_workbooks", 3.0),
    Family("files.damaged_recordings", 2.0),
    Family("damaged_inputs", 4.0),
    Family("cut_operations", 3.0),
    Family("stopped_commands", 1.5),
    Family("limited_commands", 1.5),
    Family("refused_places", 1.0),
    Family("altered_leftovers", 1.5),
    Family("other_checkpoints", 1.5),
    Family("routing", 4.0),
    Family("scales", 4.0),
    Family("sparse_columns", 4.0),
    Family("files.fuzz_text", 2.0),
    Family("files.fuzz_tables", 4.0),
)


def main() -> int:
    """Run the attempts; 1 where any of them went wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    names = [family.name for family in FAMILIES]
    parser.add_argument("--attempts", type=int, default=3000, help="attempts of all kinds together")
    parser.add_argument("--first", type=int, default=0, help="number of the first attempt of each")
    parser.add_argument("--only", choices=names, action="append", help="families to run; repeat")
    parser.add_argument("--record", type=Path, help="file of outcomes, from which a run goes on")
    asked = parser.parse_args()
    record: dict[str, Any] = {}
    if asked.record is not None and asked.record.exists():
        record = {line["attempts"]: line for line in map(json.loads, asked.record.open())}
    families = [family for family in FAMILIES if asked.only is None or family.name in asked.only]
    total = sum(family.weight for family in families)
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for family in families:
        count = -int(-asked.attempts * family.weight // total)
        outcomes = Outcomes()
        for begin in range(asked.first, asked.first + count, STEP):
            numbers = range(begin, min(begin + STEP, asked.first + count))
            name = f"{family.name}/{numbers.start}-{numbers.stop - 1}"
            if name not in record:
                made = run({family.name: numbers}, timeout=family.timeout)[family.name]
                record[name] = {"attempts": name, **vars(made)}
                if asked.record is not None:
                    with asked.record.open("a") as file:
                        file.write(json.dumps(record[name]) + "\n")
            outcomes.counts.update(record[name]["counts"])
            outcomes.faults += record[name]["faults"]
        print(f"{family.name}: {outcomes}", flush=True)
        counts += outcomes.counts
        faults += outcomes.faults
    print(*faults, sep="\n", end="\n" if faults else "")
    by_kind = ", ".join(f"{counts[word]} {word}" for word in FAULTS)
    print(f"{counts.total()} attempts, {len(faults)} faults: {by_kind}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
