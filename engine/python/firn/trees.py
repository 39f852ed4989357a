"""Structures of tensors: tuples, lists, dicts, dataclasses and named tuples, nested, as flat lists of leaves."""


class Tree:
    """How leaves stand in a structure. Equal trees have equal structure."""

    __slots__ = ("kind", "names", "children")

    def __init__(self, kind, names, children):
        self.kind = kind  # tuple, list, dict, or the class of a dataclass or named tuple
        self.names = names  # of the members; None: they are numbered
        self.children = children  # a Tree for each member; None for a leaf

    def __eq__(self, other):
        return (
            isinstance(other, Tree)
            and self.kind is other.kind
            and self.names == other.names
            and self.children == other.children
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self):
        inner = [("*" if child is None else str(child)) for child in self.children]
        if self.names is not None:
            inner = [f"{name}={text}" for name, text in zip(self.names, inner)]
        return f"{self.kind.__name__}({', '.join(inner)})"

    __repr__ = __str__

    def build(self, leaves):
        """The structure with these leaves, which are a list in order."""
        return self._take(iter(leaves))

    def _take(self, leaves):
        members = [next(leaves) if child is None else child._take(leaves) for child in self.children]
        if self.names is None:
            return self.kind(members)
        if self.kind is dict:
            return dict(zip(self.names, members))
        if hasattr(self.kind, "_fields"):
            return self.kind._make(members)
        # As copy.replace does: fields that are not among the parameters of __init__ are set.
        made = self.kind.__new__(self.kind)
        for name, member in zip(self.names, members):
            object.__setattr__(made, name, member)
        return made


def members(value):
    """The names (None: numbered) and values of a structure's members; None for a leaf."""
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        return (tuple(fields) if fields else None), list(value)
    if isinstance(value, list):
        return None, value
    if isinstance(value, dict):
        return tuple(value), list(value.values())
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields:
        names = tuple(fields)
        return names, [getattr(value, name) for name in names]
    return None


def flatten(value):
    """Returns the leaves of a value, and its Tree; the tree of a leaf is None."""
    parts = members(value)
    if parts is None:
        return [value], None
    leaves, children = [], []
    for member in parts[1]:
        below, child = flatten(member)
        leaves += below
        children.append(child)
    return leaves, Tree(type(value), parts[0], children)


def build(tree, leaves):
    """The value of a Tree and its leaves."""
    return leaves[0] if tree is None else tree.build(leaves)


def map_leaves(function, value):
    """The same structure, with function(leaf) in place of each leaf."""
    leaves, tree = flatten(value)
    return build(tree, [function(leaf) for leaf in leaves])
