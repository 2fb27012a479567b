"""Effects of the features found and the first others; association of all with the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duramen.analyses.ranking.measuring import Found
    from duramen.analyses.wording import Wording
    from duramen.data import EncodedTable, LearningSet, Target
    from duramen.reports.effects import Effects

_CLASSES = 10  # of more classes, no means are written


def effects_of(
    estimator: Any,
    data: LearningSet[EncodedTable],
    found: Found,
    jobs: int | None,
    pos_label: Any = None,
) -> Effects:
    """Describe the effects of all features that the test found, and of the first of the others."""
    from duramen.effects import describe_effects
    from duramen.reports.effects import DESCRIBED, Effects

    relevant = set() if found.tested is None else set(found.tested.selected())
    names = found.ranking.names
    best = [name for i, name in enumerate(names) if i < DESCRIBED or name in relevant]
    described = describe_effects(
        estimator, data, best, relevant=relevant, pos_label=pos_label, n_jobs=jobs
    )
    return Effects.of(described, data)


def target_columns(data: LearningSet[EncodedTable], names: Sequence[str]) -> dict[str, Any]:
    """Return the association of features with the target, as columns of the table of results.

    For classes the mean in each class, ``mean_`` and its name; for numbers Spearman's rank
    correlation, ``spearman``; for survival Harrell's concordance, ``concordance``: above .5 where
    events are earlier the larger the feature. Categories have none of these.
    """
    import numpy as np
    import pyarrow as pa

    from duramen.forests.prediction import concordance

    table, classes = data.table, data.target.classes
    if classes is not None and len(classes) > _CLASSES:
        return {}
    survival = data.target.censored
    y = np.asarray(data.target.values)
    place = {name: j for j, name in enumerate(table.names)}
    n_columns = 1 if classes is None else len(classes)
    found = np.full((len(names), n_columns), np.nan)
    by_rank = classes is None and not survival
    ranks = _ranks(np.unique(y, return_inverse=True)[1]) if by_rank else None
    for row, name in enumerate(names):
        j = place[name]
        codes = table.codes(j)
        known = codes < len(table.values(j))
        if j in table.labels or not known.any():
            continue
        if survival:
            found[row, 0] = concordance(data.target.take(known), codes[known])
        elif ranks is not None:
            found[row, 0] = _correlation(codes[known], ranks[known])
        else:
            sizes = np.bincount(y[known], minlength=n_columns)
            sums = np.bincount(y[known], table.values(j)[codes[known]], minlength=n_columns)
            np.divide(sums, sizes, out=found[row], where=sizes > 0)
    alone = "concordance" if survival else "spearman"
    titles = [alone] if classes is None else [f"mean_{one}" for one in classes.tolist()]
    columns = zip(titles, found.T, strict=True)
    return {title: pa.array(values, mask=np.isnan(values)) for title, values in columns}


def _ranks(codes: Any) -> Any:
    """Return mid-ranks of dense codes."""
    import numpy as np

    sizes = np.bincount(codes)
    return (np.cumsum(sizes) - sizes / 2)[codes]


def _correlation(codes: Any, ranks: Any) -> float:
    """Return Spearman's correlation; NaN where one side is constant."""
    import numpy as np

    one = _ranks(codes) - len(codes) / 2
    other = ranks - ranks.mean()
    scale = np.sqrt((one @ one) * (other @ other))
    return float(one @ other / scale) if scale > 0 else float("nan")


def check_class(pos_label: Any, target: Target, wording: Wording) -> None:
    """Check that the class that directions are about is one of the target.

    Raises
    ------
    ValueError
        If not.
    """
    from duramen.reports.report import joined

    if pos_label is None:
        return
    if target.classes is None:
        raise ValueError(
            f"{wording.pos_label} needs a target of classes, got {target.task}. Hint: leave it out"
        )
    labels = list(map(str, target.classes.tolist()))
    if str(pos_label) not in labels:
        raise ValueError(
            f"{wording.pos_label}: must be a class of the target, one of "
            f"{joined(labels, shown=20)}, got {pos_label!r}"
        )
