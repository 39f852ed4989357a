"""Gradients, products with derivatives, and functions of one sample for a batch, over structures of tensors."""

from . import _firn
from .trees import build, flatten


def _tensors(leaves):
    return [leaf if isinstance(leaf, _firn.Tensor) else _firn.tensor(leaf) for leaf in leaves]


def grad(y, xs=None, *, allow_unused=False):
    """The gradient of y by xs, a tensor or a structure of tensors that y was computed from.

    `grad(f)` of a function is the function that gives the gradient of f(xs) by its first argument.
    """
    if xs is None and callable(y) and not isinstance(y, _firn.Tensor):
        both = value_and_grad(y, allow_unused=allow_unused)
        return lambda *args: both(*args)[1]
    leaves, tree = flatten(xs)
    return build(tree, _firn._grad(y, leaves, allow_unused))


def value_and_grad(f, xs=None, *, allow_unused=False):
    """The value of f(xs) and its gradient by xs, a tensor or a structure of tensors.

    `value_and_grad(f)` is the function that gives both for its first argument; others are passed on.
    """
    if xs is None:
        return lambda first, *rest: _value_and_grad(f, first, rest, allow_unused)
    return _value_and_grad(f, xs, (), allow_unused)


def _value_and_grad(f, xs, rest, allow_unused):
    leaves, tree = flatten(xs)
    value, gradients = _firn._value_and_grad(lambda each: f(build(tree, each), *rest), _tensors(leaves), allow_unused)
    return value, build(tree, gradients)


def vjp(y, xs, cotangent, *, allow_unused=False):
    """The products of the cotangent, which has the shape of y, with the derivatives of y by each of xs."""
    leaves, tree = flatten(xs)
    return build(tree, _firn._vjp(y, leaves, cotangent, allow_unused))


def jvp(y, xs, tangents, *, allow_unused=False):
    """The derivative of y along tangents of xs, which have the structure of xs."""
    return _firn._jvp(y, flatten(xs)[0], _tensors(flatten(tangents)[0]), allow_unused)


def vmap(f, in_axes=0, out_axis=0):
    """The function of one sample f for a batch: tensors of arguments have an axis of samples.

    `in_axes` is one axis for all arguments, or one for each; None where all samples share the argument.
    """

    def batched(*args):
        structure = None
        each_axes = list(in_axes) if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args)
        if len(each_axes) != len(args):
            raise TypeError(f"vmap: in_axes has {len(each_axes)} entries for {len(args)} arguments")
        both = [flatten(arg) for arg in args]
        leaves = [leaf for below, _ in both for leaf in below]
        axes = [axis for (below, _), axis in zip(both, each_axes) for _ in below]

        def one(each):
            nonlocal structure
            arguments, at = [], 0
            for below, tree in both:
                arguments.append(build(tree, each[at : at + len(below)]))
                at += len(below)
            results, structure = flatten(f(*arguments))
            return _tensors(results)

        return build(structure, _firn._vmap(one, _tensors(leaves), axes, out_axis))

    return batched
