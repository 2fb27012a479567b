"""Runs that take long: over processes, each result a line of a file, so that a stop loses one."""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import duramen as dm
from duramen.data.encoding import routing_values
from duramen.forests import prediction

Task = dict[str, Any]


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """The options of a benchmark that keeps its results in a folder."""
    options = argparse.ArgumentParser(prog=f"benchmarks.srs.{name}", description=description)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--processes", type=int, default=2)
    return options


def run(
    work: Callable[..., Task], tasks: Iterable[Task], file_of_tasks: Path, processes: int
) -> list[Task]:
    """Return the results of ``work(**task)``, each joined with its task.

    Tasks whose result is in `file_of_tasks` are not run again.
    """
    done = read(file_of_tasks)
    wanted = [task for task in tasks if _key(task) not in done]
    file_of_tasks.parent.mkdir(parents=True, exist_ok=True)
    fork = multiprocessing.get_context("fork")  # functions of the module that was started
    with file_of_tasks.open("a") as file, ProcessPoolExecutor(processes, mp_context=fork) as pool:
        waiting = {pool.submit(work, **task): task for task in wanted}
        for answer in as_completed(waiting):
            task, result = waiting[answer], answer.result()
            done[_key(task)] = {**task, **result}
            file.write(json.dumps([task, result]) + "\n")
            file.flush()
            print(len(done), json.dumps(task), flush=True)
    return list(done.values())


def read(file_of_tasks: Path) -> dict[str, Task]:
    """Results by task."""
    if not file_of_tasks.exists():
        return {}
    lines = [json.loads(line) for line in file_of_tasks.read_text().splitlines()]
    return {_key(task): {**task, **result} for task, result in lines}


def _key(task: Task) -> str:
    return json.dumps(task, sort_keys=True)


def rows_of(search: Any, X: Any) -> NDArray[np.float64]:
    """Return rows in the terms of the forest of a search, in which probes are missing."""
    columns = search.forest_columns_
    table = dm.encode(X).take_columns(columns)
    schema = search.forest_.schema.take(np.arange(len(columns)))
    values = routing_values(schema, table) if len(columns) else np.empty((table.n_rows, 0))
    return np.column_stack([values, np.full(len(values), np.nan)])


def predicted(model: Any, X: Any) -> NDArray[Any]:
    """Predict classes by a forest, or by the trees of a search."""
    if not isinstance(model, dm.SequentialRandomSubspace):
        return np.asarray(model.predict(X))
    means = prediction.predict(model.forest_, rows_of(model, X))
    return np.asarray(model.classes_[means.argmax(axis=1)])
