"""Who grows the trees of a round: threads of this process, or the workers of a Dask cluster."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from duramen.forests.parameters import refuse
from duramen.results.provenance import versions
from duramen.selection.drawing import IntArray
from duramen.selection.evidence import BoolArray, Outcome
from duramen.selection.trees import Grower

# How often a tree that failed is grown again by Dask (an object storage may be away for a moment),
# and a round of which everything was lost.
_RETRIES = 2
_SAME = ("duramen", "numpy")  # packages whose versions decide what a tree is


class Grow(Protocol):
    """Grows the trees of a round."""

    def __call__(
        self, numbers: range, subspaces: Sequence[IntArray], known: Sequence[BoolArray]
    ) -> Iterable[Outcome]:
        """Give what `Grower.grow` gives for each, in their order."""
        ...


class Workers(Protocol):
    """Who grows trees."""

    def growing(self, grower: Grower) -> AbstractContextManager[Grow]:
        """Give a context in which there is a `Grow` for the trees of a grower."""
        ...


@dataclass(frozen=True)
class Threads:
    """Threads of this process."""

    number: int

    @contextmanager
    def growing(self, grower: Grower) -> Iterator[Grow]:
        """Trees one after the other, or over several threads."""
        if self.number == 1:
            yield partial(map, grower.grow)
            return
        with ThreadPoolExecutor(self.number) as pool:
            yield partial(pool.map, grower.grow)


@dataclass(frozen=True)
class Cluster:
    """The workers of a `dask.distributed.Client`."""

    client: Any

    @contextmanager
    def growing(self, grower: Grower) -> Iterator[Grow]:
        """Trees over the workers; what they have of the search goes with the context."""
        crew = _Crew(self.client, grower)
        try:
            yield crew.grow
        finally:
            crew.leave()


def check_client(owner: str, client: Any) -> Cluster:
    """Take a client, or refuse it.

    Raises
    ------
    ModuleNotFoundError
        If Dask is not there.
    ValueError
        If it is no client, an asynchronous one, or one that is closed.
    """
    try:
        distributed: Any = import_module("distributed")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{owner}: client needs the package distributed; pip install duramen[distributed]"
        ) from None
    if not isinstance(client, distributed.Client):
        raise refuse(
            owner,
            "client",
            "a dask.distributed.Client or None",
            client,
            'Client("scheduler:8786") makes one',
        )
    if client.asynchronous:
        raise refuse(owner, "client", "a client that is not asynchronous", client)
    if client.status != "running":
        raise refuse(owner, "client", "connected to a scheduler", client, "it was closed")
    return Cluster(client)


class Parcel:
    """A grower on its way to a worker, where the first of its trees unpacks it.

    What goes wrong there, such as a store that the worker does not see, is then an error of that
    tree; one in what carries it between processes would end the connection.
    """

    def __init__(
        self,
        grower: Grower | None = None,
        packed: bytes = b"",
        sender: dict[str, str] | None = None,
    ) -> None:
        self._grower, self._packed = grower, packed
        self._sender = sender or versions()
        self._turn = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Parcel, (None, self._packed or pickle.dumps(self._grower), self._sender)

    def open(self) -> Grower:
        """Give the grower.

        Raises
        ------
        RuntimeError
            If it came from other versions of this package or NumPy, which may grow other trees.
        OSError, ValueError
            If its store cannot be read here.
        """
        with self._turn:
            if self._grower is None:
                _require_same(self._sender)
                try:
                    self._grower = pickle.loads(self._packed)
                except FileNotFoundError as error:
                    error.add_note(
                        "Hint: each worker reads the store itself, at this place; put it into a "
                        "folder that all of them see, or on object storage"
                    )
                    raise
                self._packed = b""
            return self._grower


def _require_same(sender: dict[str, str]) -> None:
    here = versions()
    other = [name for name in _SAME if here.get(name) != sender.get(name)]
    if other:
        have = ", ".join(f"{name} {here.get(name)}" for name in other)
        want = ", ".join(f"{name} {sender.get(name)}" for name in other)
        raise RuntimeError(
            f"SequentialRandomSubspace: a worker has {have}, its client {want}; trees might "
            "differ. Hint: install the same versions everywhere"
        )


def grow_there(parcel: Parcel, number: int, columns: IntArray, found: BoolArray) -> bytes:
    """Grow a tree on a worker; its `Outcome`, packed.

    Packed, because arrays that come over a connection keep all of the message in memory.
    """
    return pickle.dumps(parcel.open().grow(number, columns, found))


class _Crew:
    """The workers of a cluster, who are given the grower of a search once."""

    def __init__(self, client: Any, grower: Grower) -> None:
        self._client, self._grower = client, grower
        self._parcel: Any = None
        self._sent: list[Any] = []

    def grow(
        self, numbers: range, subspaces: Sequence[IntArray], known: Sequence[BoolArray]
    ) -> Iterator[Outcome]:
        """Grow the trees of a round, and wait for all of them.

        Trees of a worker that dies are grown by others: Dask sees to that, unless all died that
        had the grower. It is then given out anew.
        """
        lost = 0
        while True:
            try:
                return map(pickle.loads, self._grown(numbers, subspaces, known))
            except CancelledError:
                lost += 1
                if lost > _RETRIES or self._client.status != "running":
                    raise
                self.leave()

    def _grown(
        self, numbers: range, subspaces: Sequence[IntArray], known: Sequence[BoolArray]
    ) -> list[bytes]:
        client = self._client
        if self._parcel is None:
            self._parcel = client.scatter(Parcel(self._grower), broadcast=True, hash=False)
        # Not one `client.map`: its arguments would travel as one large message.
        self._sent = [
            client.submit(grow_there, self._parcel, *tree, pure=False, retries=_RETRIES)
            for tree in zip(numbers, subspaces, known, strict=True)
        ]
        packed: list[bytes] = client.gather(self._sent)
        self._sent = []
        return packed

    def leave(self) -> None:
        """Cancel what is not done, and have the workers forget the grower."""
        if self._sent and self._client.status == "running":
            self._client.cancel(self._sent)
        self._sent, self._parcel = [], None
