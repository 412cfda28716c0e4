# SPDX-License-Identifier: MIT
import os
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import pandas

__version__: str
_Path = str | os.PathLike[str]
_Value = str | bool | int | float | Sequence[Any]

class Error(RuntimeError): ...

class Call(dict[str, Any]):
    def __init__(self, summary: Mapping[str, Any], folder: _Folder) -> None: ...
    @property
    def folder(self) -> pathlib.Path: ...
    def events(self) -> pandas.DataFrame: ...

class _Folder:
    path: pathlib.Path
    def __init__(self, out: _Path | None) -> None: ...

class _Policy(Protocol):
    """The one mandatory method of a scheduling policy; the others are in the docstring of policy()."""

    def standing(self, now: int) -> int: ...

def program() -> str: ...
def run(
    scenario: _Path | Mapping[str, _Value] | None = None,
    *,
    context: str | None = None,
    seed: int | None = None,
    set: Mapping[str, _Value] | None = None,
    file: _Path | None = None,
    out: _Path | None = None,
) -> Call: ...
def read_events(path: _Path) -> pandas.DataFrame: ...
def sweep(
    grid: _Path,
    *,
    out: _Path | None = None,
    threads: int | None = None,
    client: Any = None,
    shards: int | None = None,
) -> pandas.DataFrame: ...
def law(
    device: _Path, *, tick_hz: int | None = None, x_max: int | None = None, buffers: int | None = None
) -> dict[str, Any]: ...
def mttf(
    source: _Path,
    *,
    context: str = "DPC",
    buffers: Iterable[int] = ...,
    buffer_ms: Iterable[float] = ...,
    hours: float = 100,
    seed: int = 1,
    unit_us: float = 1,
) -> pandas.DataFrame: ...
def advise(
    device: _Path,
    host: _Path | None = None,
    *,
    trace: _Path | None = None,
    set: Mapping[str, _Value] | None = None,
    seconds: float | None = None,
    repeats: int | None = None,
) -> dict[str, Any]: ...
def decode(recording: _Path) -> dict[str, Any]: ...
def policy(name: str, factory: Callable[[int], _Policy]) -> None: ...
def schedule(system: _Path | Mapping[str, Any]) -> tuple[pandas.DataFrame, pandas.DataFrame]: ...
def main(arguments: Sequence[object]) -> int: ...
