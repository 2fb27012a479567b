"""Gene sets, as .gmt files have them, and groups of the columns that a transformer made."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from duramen.support.text import read_utf8


def read_gmt(path: str | PathLike[str]) -> dict[str, tuple[str, ...]]:
    r"""Read gene sets from a .gmt file: on each line a name, a description, and the genes.

    Parameters
    ----------
    path : path
        Text in UTF-8, fields separated by tabs.

    Returns
    -------
    dict of str to tuple of str
        The genes of each set, without those that occur again.

    Raises
    ------
    ValueError
        If a line has no gene, a name occurs twice, or there is no set.

    Examples
    --------
    >>> import tempfile
    >>> import duramen as dm
    >>> with tempfile.NamedTemporaryFile("w", suffix=".gmt") as file:
    ...     print("first\tof two\ta\tb", file=file, flush=True)
    ...     dm.io.read_gmt(file.name)
    {'first': ('a', 'b')}
    """
    sets: dict[str, tuple[str, ...]] = {}
    text = read_utf8(Path(path), "read_gmt")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, *rest = (field.strip() for field in line.split("\t"))
        genes = tuple(dict.fromkeys(gene for gene in rest[1:] if gene))
        if not name or not genes:
            raise ValueError(
                f"read_gmt: line {number} of {Path(path).name} must have a name, a description and "
                f"genes, separated by tabs, got {line[:60]!r}."
            )
        if name in sets:
            raise ValueError(f"read_gmt: {Path(path).name} has the set {name!r} twice.")
        sets[name] = genes
    if not sets:
        raise ValueError(f"read_gmt: {Path(path).name} must have a gene set, got none.")
    return sets


def transformed_groups(transformer: Any) -> dict[str, tuple[str, ...]]:
    """Return the columns that a transformer of scikit-learn makes of each column that it is given.

    The columns of one-hot encoders are put together, so that a category is one group.

    Parameters
    ----------
    transformer : fitted ColumnTransformer or OneHotEncoder
        Fitted on a table with names.

    Returns
    -------
    dict of str to tuple of str
        By the name of each column that is one-hot encoded, its columns of
        ``get_feature_names_out``: for `feature_groups`. Other columns are in no group.

    Raises
    ------
    TypeError
        If it is no such transformer.

    Examples
    --------
    >>> import pandas as pd
    >>> import duramen as dm
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> table = pd.DataFrame({"site": ["a", "b", "c"], "age": [50, 60, 70]})
    >>> made = make_column_transformer((OneHotEncoder(), ["site"]), remainder="passthrough")
    >>> dm.io.transformed_groups(made.fit(table))
    {'site': ('onehotencoder__site_a', 'onehotencoder__site_b', 'onehotencoder__site_c')}
    """
    if hasattr(transformer, "categories_"):
        return _of_encoder(transformer, list(transformer.get_feature_names_out()), None)
    if not hasattr(transformer, "output_indices_"):
        raise TypeError(
            "transformed_groups: transformer must be a fitted ColumnTransformer or OneHotEncoder "
            f"of scikit-learn, got {type(transformer).__name__}."
        )
    names = list(transformer.get_feature_names_out())
    groups: dict[str, tuple[str, ...]] = {}
    for part, made, columns in transformer.transformers_:
        encoder = made.steps[-1][1] if hasattr(made, "steps") else made
        if hasattr(encoder, "categories_") and hasattr(encoder, "drop_idx_"):
            own = names[transformer.output_indices_[part]]
            groups.update(_of_encoder(encoder, own, columns))
    return groups


def _of_encoder(encoder: Any, names: list[str], columns: Any) -> dict[str, tuple[str, ...]]:
    """Return the columns of a one-hot encoder by the column that they are made of."""
    made_of = getattr(encoder, "feature_names_in_", columns)
    if made_of is None:
        made_of = [f"x{j}" for j in range(len(encoder.categories_))]
    groups: dict[str, tuple[str, ...]] = {}
    start = 0
    for j, name in enumerate(made_of):
        rare = getattr(encoder, "infrequent_categories_", None)  # which have a column together
        n_rare = 0 if rare is None or rare[j] is None else len(rare[j])
        dropped = encoder.drop_idx_ is not None and encoder.drop_idx_[j] is not None
        width = len(encoder.categories_[j]) - max(n_rare - 1, 0) - int(dropped)
        groups[str(name)] = tuple(map(str, names[start : start + width]))
        start += width
    return groups
