"""What programs with a window need beside App, Param and Window."""

from typing import Any

from ._firn import Param

class Colour(tuple[float, float, float]):
    """The value of a parameter that is a colour: red, green and blue as they are shown, from 0 to 1."""
    def __new__(cls, red: float, green: float, blue: float) -> Colour: ...

class Angle(float):
    """The value of a parameter that is an angle in radians."""

class File(str):
    """The value of a parameter that is the name of a file that is there, or empty."""

class colormap:
    """The colour maps; their names do as well."""
    grey: str
    viridis: str
    magma: str
    inferno: str
    plasma: str
    turbo: str
    coolwarm: str
    icefire: str


def structural(make: Any, *params: Param) -> Any:
    """A compiled function whose program depends on parameters; a decorator where no function is given."""
