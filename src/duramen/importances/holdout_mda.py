"""Hold-out and cross-validated MDA: forests grown on some rows, measured on the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from duramen.forests import parameters
from duramen.forests.base import ForestClassifier
from duramen.importances.arguments import metadata_of, target_of
from duramen.importances.mda import repeats_of, score_of, tree_importances
from duramen.importances.nodes import IntArray
from duramen.importances.permutation import Permutations, permutation_losses
from duramen.importances.refit import encoded_for, fingerprint_of, labels_of, template_of
from duramen.importances.samples import Sample
from duramen.results.importances import Importances
from duramen.tables.exchangeability import Exchangeability


def holdout_mda(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: int = 2,
    scoring: str | None = None,
    n_repeats: int | str = 1,
    blocks: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Importances:
    """Mean decrease of accuracy on rows that no tree of the forest saw.

    The rows are cut at random into `cv` parts of equal size, for classes in the same proportions.
    A forest grown on the others is measured on all the rows of each part, as by :func:`mda` with
    ``rows=None``, and the parts are averaged. With ``cv=2`` this is hold-out importance (Janitza,
    Celik, Boulesteix 2018): values of irrelevant features are then symmetric about 0, which
    out-of-bag values need not be, since all trees of a forest saw almost all rows.

    Parameters
    ----------
    estimator : estimator of duramen
        The forest to grow; it is cloned, not changed. Its `n_jobs` is used for growth.
    X : table of shape (n, p)
        The rows.
    y : array-like of shape (n,)
        Target of `X`.
    cv : int
        Number of parts, from 2 to the number of rows.
    scoring, n_repeats
        As for :func:`mda`.
    blocks : array-like of shape (n,), optional
        Label of the block of each row: the rows of a person, a family, a plate or of copies. The
        rows of a block go into one part, so that no forest is measured on rows whose like it was
        grown on; parts then differ in size by as much as blocks make them.
    random_state : int, RandomState, Generator or None
        Seed of the parts, the forests and the permutations; None: derived from that of the
        estimator.
    n_jobs : int, optional
        Threads of the permutations; the result does not depend on it.

    Returns
    -------
    Importances
        ``measure="holdout_mda"``; `standard_error` is that of the mean over the trees of all the
        forests.

    Raises
    ------
    TypeError
        If `estimator` is none of this package.
    ValueError
        If a class has fewer rows, or blocks, than there are parts, or an argument is not as
        described.

    References
    ----------
    S. Janitza, E. Celik, A.-L. Boulesteix (2018). A computationally fast variable importance test
    for random forests for high-dimensional data. Advances in Data Analysis and Classification 12.
    """
    name = "holdout_mda"
    n_threads = parameters.check_jobs(name, n_jobs)
    template = template_of(estimator, name)
    table = encoded_for(template, X)
    labels = labels_of(template, y, table.n_rows, name)
    n_parts = parameters.check_integer(name, "cv", cv, 2, most=table.n_rows)
    seed = parameters.draw_seed(template.random_state if random_state is None else random_state)
    seeds = np.random.SeedSequence(seed).generate_state(n_parts + 2, np.uint64)
    rows = Exchangeability.checked(table.n_rows, blocks=blocks, function=name)
    classes = isinstance(template, ForestClassifier)
    if rows.blocks is None:
        part = _parts(labels, n_parts, int(seeds[0]), classes=classes)
    else:
        part = _parts_of_blocks(labels, rows.blocks, n_parts, int(seeds[0]), classes=classes)
    results: list[Importances] = []
    for k in range(n_parts):
        model = template.set_params(random_state=int(seeds[k + 2] % 2**32))
        forest = model.fit(table.take_rows(part != k), labels[part != k]).forest_
        score = score_of(forest, scoring, name)
        repeats = repeats_of(n_repeats, score, name)
        held_out = table.take_rows(part == k)
        target = target_of(forest, labels[part == k], held_out.n_rows, name)
        losses = permutation_losses(
            forest,
            Sample(held_out, target, out_of_bag=False),
            Permutations(int(seeds[1]), repeats),
            score=score,
            n_threads=n_threads,
        )
        choices = {"cv": n_parts, "scoring": score, "n_repeats": repeats}
        results.append(
            tree_importances(
                name,
                forest,
                forest.names,
                losses,
                score,
                scaled=False,
                by_class=False,
                choices=choices,
            )
        )
    metadata = metadata_of(forest, name, **choices, **rows.identity())
    metadata["n_rows"] = table.n_rows
    metadata["seed"] = seed
    metadata["fingerprint"] = fingerprint_of(template, forest, table, y, name)
    return _mean(results, metadata)


def _mean(parts: list[Importances], metadata: dict[str, Any]) -> Importances:
    errors = [part.standard_error for part in parts if part.standard_error is not None]
    error = None
    if len(errors) == len(parts):
        error = np.sqrt(np.sum(np.square(errors), axis=0)) / len(parts)
    return Importances(
        names=parts[0].names,
        values=np.mean([part.values for part in parts], axis=0),
        measure="holdout_mda",
        unit=parts[0].unit,
        standard_error=error,
        metadata=metadata,
    )


def _parts(labels: NDArray[Any], n_parts: int, seed: int, *, classes: bool) -> IntArray:
    """Return the part of every row: equal sizes, each class spread evenly."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(labels))
    if classes:
        values, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        if counts.min() < n_parts:
            raise ValueError(
                f"holdout_mda: class {values.tolist()[counts.argmin()]!r} has {counts.min()} rows, "
                f"fewer than the {n_parts} parts, so that some forest would not see it or not be "
                "measured on it. Hint: use fewer parts or leave the class out."
            )
        order = order[np.argsort(codes[order], kind="stable")]
    part = np.empty(len(labels), dtype=np.int64)
    part[order] = np.arange(len(labels)) % n_parts
    return part


def _parts_of_blocks(
    labels: NDArray[Any], blocks: IntArray, n_parts: int, seed: int, *, classes: bool
) -> IntArray:
    """Return the part of every row, the same for the rows of a block.

    Blocks come in random order, the larger ones first, and each joins the part that has the
    smallest fraction of the rows of its classes.
    """
    random = np.random.default_rng(seed)
    values, codes = np.unique(labels, return_inverse=True) if classes else (None, 0 * blocks)
    n_blocks, n_classes = int(blocks.max()) + 1, int(codes.max()) + 1
    counts = np.zeros((n_blocks, n_classes))
    np.add.at(counts, (blocks, codes), 1)
    order = random.permutation(n_blocks)
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    shares = counts / counts.sum(axis=0)
    held = np.zeros((n_parts, n_classes))
    part = np.empty(n_blocks, dtype=np.int64)
    for block in order.tolist():
        part[block] = np.argmin(held @ shares[block])
        held[part[block]] += shares[block]
    if (held == 0).any():
        lacking = int(np.argmax((held == 0).any(axis=0)))
        what = "row" if values is None else f"row of class {values.tolist()[lacking]!r}"
        raise ValueError(
            f"holdout_mda: each of the {n_parts} parts must have a {what}, but "
            f"{np.count_nonzero(counts[:, lacking])} of the {n_blocks} blocks have one and could "
            "not be spread over all parts. Hint: use fewer parts or leave the class out."
        )
    return part[blocks]
