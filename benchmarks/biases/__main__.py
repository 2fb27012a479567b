"""``python -m benchmarks.biases NAME``: the tables of the page docs/biases/NAME.md."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import time

import benchmarks.biases as package

HELPERS = ("__main__", "chance", "tables")


def names() -> list[str]:
    """The biases: modules of this package."""
    return [
        m.name.replace("_", "-")
        for m in pkgutil.iter_modules(package.__path__)
        if m.name not in HELPERS
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.biases", description=__doc__)
    parser.add_argument("name", choices=names())
    parser.add_argument("--data-sets", type=int, help="simulated data sets; more are surer")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    module = importlib.import_module(f"benchmarks.biases.{args.name.replace('-', '_')}")
    data_sets = args.data_sets or module.DATA_SETS
    begin = time.perf_counter()
    for table in module.tables(data_sets, args.seed):
        print(table, flush=True)
    print(f"{data_sets} data sets, seed {args.seed}, {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
