"""Tensors in notebooks: pictures, plots, films, and views that change in place."""

from collections.abc import Iterable
from types import TracebackType
from typing import Any

from ._firn import Drawing, Param, Picture, RangeLike, TensorLike

def show(x: TensorLike | Drawing | Picture | Iterable[TensorLike | Drawing | Picture], fps: float = 30, *,
         colormap: Any = None, range: RangeLike = None, size: tuple[int, int] | None = None,
         file: Any = None) -> None:
    """Shows a tensor as a picture, or frames as a film that plays for ever."""

class Live:
    """A view that changes in place: a picture in a notebook, a window elsewhere."""
    def __init__(self, width: int = 640, height: int = 480, *, fps: float = 30, title: str = "firn") -> None: ...
    def __enter__(self) -> Live: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None: ...
    def show(self, x: TensorLike | Drawing, colormap: Any = None, range: RangeLike = None, **options: Any) -> bool: ...
    def slider(self, name: str, value: float, min: float, max: float, *, help: str = "") -> Param: ...
