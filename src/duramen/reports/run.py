"""The record of a run: what was done, to what, with what."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duramen.data import Target


@dataclass(frozen=True, kw_only=True)
class Run:
    """Command, data, settings and seed of a run.

    Only `paths` names folders, as the user did; a report does not show it.

    What does not apply is None, as the data of a run without any.

    Parameters
    ----------
    command : str
        The command line, files by their name alone.
    task : str, optional
        ``"classification"``, ``"regression"`` or ``"survival"``.
    target : str, optional
        Name of the target column.
    file : str, optional
        Name of the input file.
    paths : mapping of str to str
        Files as they were given, by the argument or option.
    n_rows, n_features : int, optional
        Shape of the table, without the target.
    fingerprint : str, optional
        Fingerprint of the encoded table and the target.
    seed : int, optional
        Seed of the random numbers.
    settings : mapping
        Every setting, defaults included, resolved.
    versions : mapping
        Versions of Python and of the packages.
    classes : mapping of str to int, optional
        Number of rows of each class.
    results : mapping
        A few figures, such as the out-of-bag error.
    timings : mapping of str to float
        Seconds that each step took.
    citation : str
        What the data ask to be cited; empty if nothing.
    references : sequence of str
        Sources of the methods, to be cited.
    findings : sequence of mappings
        What a look at the data found: ``"kind"``, ``"columns"``, ``"found"``, ``"hint"`` and
        ``"values"`` of each `duramen.data.Finding`.
    """

    command: str
    task: str | None = None
    target: str | None = None
    file: str | None = None
    paths: Mapping[str, str] = field(default_factory=dict)
    n_rows: int | None = None
    n_features: int | None = None
    fingerprint: str | None = None
    seed: int | None = None
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    classes: Mapping[str, int] | None = None
    results: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    citation: str = ""
    references: Sequence[str] = ()
    findings: Sequence[Mapping[str, Any]] = ()

    @property
    def target_class(self) -> type[Target]:
        """Class of the target; that of numbers where the task is not known."""
        from duramen.data.target import NumberTarget, target_class

        return target_class(self.task or NumberTarget.task)

    def to_json(self) -> str:
        """Return the record as JSON text, as it stands in ``run.json``."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
