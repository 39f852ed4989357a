"""What programs with a window need beside App, Param and Window: kinds of values, colour maps, structural functions."""

from . import _firn


class Colour(tuple):
    """The value of a parameter that is a colour: red, green and blue as they are shown, from 0 to 1."""

    _firn_kind = "colour"

    def __new__(cls, red, green, blue):
        return super().__new__(cls, (red, green, blue))


class Angle(float):
    """The value of a parameter that is an angle in radians; the panel and the command line have degrees."""

    _firn_kind = "angle"


class File(str):
    """The value of a parameter that is the name of a file that is there, or empty."""

    _firn_kind = "file"


class colormap:
    """The colour maps; their names do as well, as in `window.show(u, "viridis")`."""

    grey = "grey"
    viridis = "viridis"
    magma = "magma"
    inferno = "inferno"
    plasma = "plasma"
    turbo = "turbo"
    coolwarm = "coolwarm"  # diverging, light in the middle
    icefire = "icefire"  # diverging, dark in the middle


class structural:
    """A compiled function whose program depends on parameters: `make` takes their values and returns the function.

        radius = app.param("radius", 3, min=1, max=9)

        @fn.structural(radius)
        def blur(radius):
            return fn.compile(lambda x: blurred(x, radius), fn.f32("n", "m"))

        picture = blur(picture)

    A change costs no frame: the new program is compiled in the background while the last good one runs, and takes
    over when it is ready. If it cannot be made or compiled, the last good one stays, and the panel says why. Values
    that a compiled function takes as arguments do not need this. `structural(make, radius)` is the same.
    """

    def __new__(cls, make, *params):
        if isinstance(make, _firn.Param):  # a decorator
            return lambda function: cls(function, make, *params)
        return super().__new__(cls)

    def __init__(self, make, *params):
        if not callable(make) or not params:
            raise TypeError("firn.structural takes a function of values, and the parameters that these are of")
        self._make = make
        self._params = params
        self._current = self._next = None
        self._asked = None
        self._made = False
        self.compiling = False
        self.refused = ""
        self._tell("")

    def __call__(self, *args):
        """Runs the newest program that is ready."""
        if not self._made or _firn.recording_now():
            values = self._values()
            if not self._made or values != self._asked:
                self._current = self._make(*values)
                self._asked, self._made = values, True
            return self._current(*args)
        self._begin_next()
        if not self.compiling:
            return self._current(*args)
        try:
            if not self._next.is_ready(*args):
                return self._current(*args)
            self.compiling = False
            results = self._next(*args)
        except _firn.UserError as error:
            self.compiling = False
            self._refuse(error)
            return self._current(*args)
        self._current = self._next
        self._tell("")
        return results

    @property
    def current(self):
        """The function that runs now; None before the first call."""
        return self._current

    def _values(self):
        return tuple(param.value for param in self._params)

    def _begin_next(self):
        """Begins one program at a time; values that have changed again meanwhile are never compiled."""
        values = self._values()
        if self.compiling or values == self._asked:
            return
        self._asked = values
        self.refused = ""
        try:
            self._next = self._make(*values)
        except _firn.UserError as error:
            self._refuse(error)
            return
        self.compiling = True
        self._tell("compiling ...")

    def _refuse(self, error):
        self.refused = str(error)
        self._tell(self.refused)

    def _tell(self, state):
        for param in self._params:
            param.set_structural(state)
