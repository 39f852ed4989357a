"""Which names of a function are assigned, used and needed where: for the scopes that rewriting.py records."""

import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
LOOPS = (ast.For, ast.While)


def own_nodes(node):
    """The nodes of a function's own scope below a node, in order: bodies of functions, lambdas and classes in it are
    left out; their decorators and defaults are not."""
    out = []
    stack = [node]
    while stack:
        each = stack.pop()
        out.append(each)
        kind = type(each)
        if kind in (ast.FunctionDef, ast.AsyncFunctionDef):
            below = [*each.decorator_list, *each.args.defaults, *(value for value in each.args.kw_defaults if value)]
        elif kind is ast.Lambda:
            below = [*each.args.defaults, *(value for value in each.args.kw_defaults if value)]
        elif kind is ast.ClassDef:
            below = [*each.decorator_list, *each.bases, *(value.value for value in each.keywords)]
        elif kind in _LEAVES:
            continue
        else:
            below = []
            for field in each._fields:
                value = getattr(each, field, None)
                if isinstance(value, ast.AST):
                    if type(value) not in _CONTEXTS:
                        below.append(value)
                elif isinstance(value, list):
                    below += [item for item in value if isinstance(item, ast.AST)]
        stack += reversed(below)
    return out


_LEAVES = {ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal}
_CONTEXTS = {ast.Load, ast.Store, ast.Del}


def targets(node):
    """The names that an assignment to a target binds, in order."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, (ast.Tuple, ast.List)):
        return [name for each in node.elts for name in targets(each)]
    if isinstance(node, ast.Starred):
        return targets(node.value)
    return []


def root_of(node):
    """The name at the start of `a.b.c`, and the path `a.b` of what has the attribute; None where it is another."""
    parts = []
    node = node.value
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return node.id, ".".join([node.id, *reversed(parts)])


def stored_attributes(node):
    """The attributes that statements below a node assign: (root, path, attribute)."""
    for each in own_nodes(node):
        if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            found = root_of(each)
            if found:
                yield (*found, each.attr)


def bound_by(statement):
    """The names that a statement itself binds, without those of statements in it."""
    out = []
    if isinstance(statement, ast.Assign):
        for each in statement.targets:
            out += targets(each)
    elif isinstance(statement, (ast.AugAssign, ast.For, ast.AsyncFor)):
        out += targets(statement.target)
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        out += targets(statement.target)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            if item.optional_vars is not None:
                out += targets(item.optional_vars)
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        out.append(statement.name)
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        out += [(each.asname or each.name).split(".")[0] for each in statement.names]
    return out


def assigned(node):
    """The names that are bound below a node in the function's own scope, in order of their first place."""
    out = {}
    for each in own_nodes(node):
        if isinstance(each, ast.stmt):
            out.update(dict.fromkeys(bound_by(each)))
        elif isinstance(each, ast.NamedExpr):
            out[each.target.id] = None
        elif isinstance(each, ast.MatchAs) and each.name:
            out[each.name] = None
        elif isinstance(each, ast.MatchStar) and each.name:
            out[each.name] = None
        elif isinstance(each, ast.MatchMapping) and each.rest:
            out[each.rest] = None
    return list(out)


def declared(nodes, kind):
    """The names that a function with these nodes declares global or nonlocal."""
    return {name for each in nodes if isinstance(each, kind) for name in each.names}


def own_nodes_of_body(function):
    return [node for statement in function.body for node in own_nodes(statement)]


def captured(function):
    """The names that functions, lambdas and classes in a function use."""
    out = set()

    def visit(node, inside):
        for each in ast.iter_child_nodes(node):
            if inside and isinstance(each, ast.Name):
                out.add(each.id)
            if inside and isinstance(each, (ast.Nonlocal,)):
                out.update(each.names)
            visit(each, inside or isinstance(each, (*FUNCTIONS, ast.ClassDef, ast.GeneratorExp)))

    for statement in function.body:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            visit(statement, True)
        else:
            visit(ast.Module([statement], []), False)
    return out


def used(node):
    """The names that an expression or the parts of a statement read."""
    out = set()
    for each in own_nodes(node):
        if type(each) is ast.Name:
            if type(each.ctx) is not ast.Store:
                out.add(each.id)
        elif type(each) is ast.AugAssign and type(each.target) is ast.Name:
            out.add(each.target.id)
    return out


def ends(block):
    """Whether every path through a block returns or raises."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, (ast.Return, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return ends(last.body) and ends(last.orelse)
    if isinstance(last, ast.With):
        return ends(last.body)
    if isinstance(last, ast.Try):
        if ends(last.finalbody):
            return True
        return (ends(last.body) or ends(last.orelse)) and all(ends(each.body) for each in last.handlers)
    return False


class Liveness:
    """The names whose values are still used: after each branch and loop, and at the start of each iteration."""

    def __init__(self, function):
        self.after, self.head, self.start, self.second = {}, {}, {}, {}
        self._block(function.body, frozenset(), _Ways(frozenset(), frozenset(), frozenset()))

    # `start` has the names that a branch begins with, and `second` those that its second side begins with.

    def needed(self, statement):
        return self.after[statement] | self.head.get(statement, frozenset())

    def _block(self, block, live, ways):
        for statement in reversed(block):
            live = self._statement(statement, live, ways) | ways.raised
        return live

    def _statement(self, s, live, ways):
        if isinstance(s, ast.Return):
            return frozenset(used(s))
        if isinstance(s, ast.Raise):
            return frozenset(used(s)) | ways.raised
        if isinstance(s, ast.Break):
            return ways.broken
        if isinstance(s, ast.Continue):
            return ways.continued
        if isinstance(s, ast.If):
            self.after[s] = live
            self.second[s] = self._block(s.orelse, live, ways)
            inside = self._block(s.body, live, ways) | self.second[s]
            self.start[s] = inside
            return (inside - set(_walrus(s.test))) | used(s.test)
        if isinstance(s, (ast.For, ast.AsyncFor)):
            self.after[s] = live
            end = self._block(s.orelse, live, ways)
            head = end
            while True:
                body = self._block(s.body, head, _Ways(live, head, ways.raised)) - set(targets(s.target))
                grown = head | body | (used(s.target) if not isinstance(s.target, ast.Name) else frozenset())
                if grown == head:
                    break
                head = grown
            self.head[s] = head
            return head | used(s.iter)
        if isinstance(s, ast.While):
            self.after[s] = live
            end = self._block(s.orelse, live, ways)
            head = end | used(s.test)
            while True:
                grown = head | (self._block(s.body, head, _Ways(live, head, ways.raised)) - set(_walrus(s.test)))
                if grown == head:
                    break
                head = grown
            self.head[s] = head
            return head
        if isinstance(s, (ast.Try, getattr(ast, "TryStar", ast.Try))):
            final = self._block(s.finalbody, live, ways) if s.finalbody else live
            handled = frozenset(ways.raised | (final if s.finalbody else frozenset()))
            for each in s.handlers:
                handled |= self._block(each.body, final, ways) | (used(each.type) if each.type else frozenset())
            inside = _Ways(ways.broken | final, ways.continued | final, handled)
            orelse = self._block(s.orelse, final, ways)
            return self._block(s.body, orelse, inside) | handled
        if isinstance(s, (ast.With, ast.AsyncWith)):
            # It may swallow an exception from anywhere in its body.
            inside = _Ways(ways.broken, ways.continued, ways.raised | live)
            body = self._block(s.body, live, inside)
            return (body - set(bound_by(s))) | live | frozenset(n for item in s.items for n in used(item.context_expr))
        if isinstance(s, ast.Match):
            out = live
            for case in s.cases:
                out |= self._block(case.body, live, ways) | (used(case.guard) if case.guard else frozenset())
                out |= used(case.pattern)
            return out | used(s.subject)
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return (live - {s.name}) | frozenset(used(s))
        killed = set(bound_by(s)) if not isinstance(s, ast.AugAssign) else set()
        return (live - killed) | used(s)


class _Ways:
    """The names that are needed where control leaves a block."""

    def __init__(self, broken, continued, raised):
        self.broken, self.continued, self.raised = broken, continued, raised


def _walrus(expression):
    return [each.target.id for each in own_nodes(expression) if isinstance(each, ast.NamedExpr)]


class Binding:
    """The names that surely have a value where a branch or loop begins, and at statements."""

    def __init__(self, function):
        self.at = {}
        self.ended = {}  # by branch or loop: whether control does not come to the end of each of its blocks
        self.everything = frozenset(assigned(ast.Module(function.body, [])))
        arguments = function.args
        start = {each.arg for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
        start |= {each.arg for each in (arguments.vararg, arguments.kwarg) if each}
        self._block(function.body, frozenset(start))

    def _block(self, block, bound):
        """The names that have a value behind a block; None where control does not come there."""
        for s in block:
            if bound is None:
                bound = self.everything  # it is not reached
            self.at[s] = bound
            bound = self._statement(s, bound)
        return bound

    def _statement(self, s, bound):
        if isinstance(s, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return None
        if isinstance(s, ast.If):
            bound = bound | set(_always(s.test))
            self.at[s] = bound
            sides = [self._block(s.body, bound), self._block(s.orelse, bound)]
            self.ended[s] = [side is None for side in sides]
            sides = [side for side in sides if side is not None]
            return frozenset.intersection(*sides) if sides else None
        if isinstance(s, (ast.For, ast.AsyncFor)):
            self.ended[s] = [self._block(s.body, bound | set(targets(s.target))) is None]
            self._block(s.orelse, bound)
            return bound
        if isinstance(s, ast.While):
            self.ended[s] = [self._block(s.body, bound | set(_always(s.test))) is None]
            self._block(s.orelse, bound)
            return bound
        if isinstance(s, (ast.Try, getattr(ast, "TryStar", ast.Try))):
            body = self._block(s.body, bound)
            body = self._block(s.orelse, body if body is not None else bound) if s.orelse else body
            sides = [body] + [self._block(each.body, bound) for each in s.handlers]
            final = self._block(s.finalbody, bound)
            sides = [side for side in sides if side is not None]
            if not sides or final is None:
                return None
            return frozenset.intersection(*sides) | final
        if isinstance(s, (ast.With, ast.AsyncWith)):
            inside = bound | set(bound_by(s))
            self._block(s.body, inside)
            return inside
        if isinstance(s, ast.Match):
            for case in s.cases:
                self._block(case.body, bound)
            return bound
        if isinstance(s, ast.Delete):
            return bound - {name for each in s.targets for name in ([each.id] if isinstance(each, ast.Name) else [])}
        return bound | set(bound_by(s)) | set(_always(s))


def _always(node):
    """Names that an expression surely binds by `:=`."""
    out = []
    for each in own_nodes(node):
        if isinstance(each, (ast.BoolOp, ast.IfExp, *COMPREHENSIONS)):
            break
        if isinstance(each, ast.NamedExpr):
            out.append(each.target.id)
    return out
