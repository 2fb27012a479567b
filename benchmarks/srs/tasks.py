"""Runs that take long: over processes, each result a line of a file, so that a stop loses one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

Task = dict[str, Any]


def run(work: Callable[..., Task], tasks: Iterable[Task], kept: Path, processes: int) -> list[Task]:
    """Give what ``work(**task)`` gave for each task, with the task itself.

    Tasks whose result is in the file `kept` are not run again.
    """
    done = read(kept)
    wanted = [task for task in tasks if _key(task) not in done]
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("a") as file:
        results = Parallel(n_jobs=processes, return_as="generator_unordered", batch_size=1)(
            delayed(_with_task)(work, task) for task in wanted
        )
        for task, result in results:
            done[_key(task)] = {**task, **result}
            file.write(json.dumps([task, result]) + "\n")
            file.flush()
            print(len(done), json.dumps(task), flush=True)
    return list(done.values())


def read(kept: Path) -> dict[str, Task]:
    """Results by task."""
    if not kept.exists():
        return {}
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    return {_key(task): {**task, **result} for task, result in lines}


def _with_task(work: Callable[..., Task], task: Task) -> tuple[Task, Task]:
    return task, work(**task)


def _key(task: Task) -> str:
    return json.dumps(task, sort_keys=True)
