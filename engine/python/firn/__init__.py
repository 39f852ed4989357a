"""Firn: tensor programs that become a few compute kernels, and are seen while they run.

    import firn as fn

    @fn.compile
    def wave(u: fn.f32["n", "m"], v: fn.f32["n", "m"], dt: fn.f32):
        i, j = fn.indices(u.shape)
        v = v + dt * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u)
        return u + dt * v, v
"""

from ._firn import *  # noqa: F401,F403
from . import _firn
from .control import break_, continue_, else_, function, if_, kernel, loop, range, while_
from .functions import Compiled, Jitted, compile, jit, save_program
from .gradients import grad, jvp, value_and_grad, vjp, vmap
from .notebook import Live, dress_classes as _dress_classes, show
from .window import Angle, Colour, File, colormap, structural

_dress_classes()

newaxis = None
