"""Program that reads a file with a native library: ``python -P reader_process.py ARGUMENTS``.

A native library may end its process, or never return, where a file is damaged. This program imports
nothing of the package, so that it starts at once. Its arguments are, as JSON: a Python file, the
name of a class in it, the module paths, the path of the file to read, the bytes of memory it may
take, and the seconds it may take between two parts of an answer.

Standard input and output hold pickles. A request is the name of a generator method of the class and
its arguments. The answer is ``(True, part)`` for each part that the method yields, then ``None``;
or ``(False, text)`` for an error.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import importlib.util
import json
import os
import pickle
import signal
import sys
from typing import IO, Any


def main() -> None:
    """Answer requests until there are no more."""
    file, name, modules, path, memory, seconds = json.loads(sys.argv[1])
    requests, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    nothing = open(os.devnull, "w")  # noqa: SIM115
    os.dup2(nothing.fileno(), 1)  # a library that prints must not write into an answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    _end_with_parent()
    sys.path[:] = modules
    if memory is not None:
        _limit(memory)
    reader = None
    while True:
        try:
            method, arguments = pickle.load(requests)
        except EOFError:
            return
        # A thread of C ends this process where a native library holds the interpreter.
        faulthandler.dump_traceback_later(seconds, exit=True, file=nothing)
        try:
            reader = reader or _class(file, name)(path)
            for part in getattr(reader, method)(*arguments):
                faulthandler.cancel_dump_traceback_later()  # the other process may be slow
                _dump((True, part), out)
                faulthandler.dump_traceback_later(seconds, exit=True, file=nothing)
            answer = None
        except BaseException as error:  # a panic of a native library is no Exception
            answer = (False, f"{error}" or type(error).__name__)
        finally:
            faulthandler.cancel_dump_traceback_later()
        _dump(answer, out)


def _class(file: str, name: str) -> Any:
    """Return a class of a Python file."""
    spec = importlib.util.spec_from_file_location("reader", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def _end_with_parent() -> None:
    """Ask Linux to end this process with the thread that started it; else its time ends it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _limit(memory: int) -> None:
    """Limit the memory that this process may take from now on; some systems cannot."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            most = memory + int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _dump(value: object, out: IO[bytes]) -> None:
    pickle.dump(value, out, protocol=pickle.HIGHEST_PROTOCOL)
    out.flush()


if __name__ == "__main__":
    main()
