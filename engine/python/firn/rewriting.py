"""Rewrites functions so that their loops and branches over tensors are recorded.

Statements stay where they are, on their lines; each loop and branch asks the recorder (recording.py) whether it is
Python's. This function

    def f(x, n):
        for i in firn.range(n):
            if x > 1:
                x = x / 2
        return x

becomes

    def f(x, n):
        with _firn_.Frame(_firn_.infos[0]) as _firn_f:
            _firn_s0 = _firn_f.loop(firn.range(n), 0, (x,), ())
            for _firn_i0 in _firn_s0:
                try:
                    if _firn_s0.recorded:
                        (x,) = _firn_s0.values
                    i = _firn_i0
                    _firn_s1 = _firn_f.branch(x > 1, 1, (x,), ())
                    if _firn_s1.then:
                        x = x / 2
                        x = _firn_f.set('x', x)
                    if _firn_s1.merge((x,)):
                        (x,) = _firn_s1.values
                    _firn_s0.end((x,))
                except _firn_.Retry:
                    _firn_s0.retry()
            if _firn_s0.recorded:
                (x,) = _firn_s0.values
            return x

A loop that is recorded gives one iteration, and both sides of a branch that is recorded run.
"""
# mypy: ignore-errors

import __future__
import ast
import inspect
import linecache
import types

from . import _firn
from .names import (
    COMPREHENSIONS,
    LOOPS,
    Binding,
    Liveness,
    assigned,
    bound_by,
    captured,
    declared,
    ends,
    own_nodes,
    own_nodes_of_body,
    root_of,
    stored_attributes,
    targets,
)
from .recording import Runtime, Spec

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag

# Statements and expressions that the recorder of a call has a part in, besides loops and branches.
_FRAMED = (ast.Attribute, ast.With, ast.Delete, *(getattr(ast, n) for n in ("Try", "TryStar") if hasattr(ast, n)))


# ---- building nodes -------------------------------------------------------------------------------------------------


def _name(name, store=False):
    return ast.Name(name, ast.Store() if store else ast.Load())


def _attribute(base, name):
    return ast.Attribute(_name(base) if isinstance(base, str) else base, name, ast.Load())


def _call(function, *arguments):
    return ast.Call(function, list(arguments), [])


def _method(base, name, *arguments):
    return _call(_attribute(base, name), *arguments)


def _tuple(names, store=False):
    return ast.Tuple([_name(each, store) for each in names], ast.Store() if store else ast.Load())


def _assign(name, value):
    return ast.Assign([_name(name, True)], value)


def _lambda(body):
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)


def _at(place, *nodes):
    """Gives new nodes the line of another; nodes below that have one keep it."""
    stack = list(nodes)
    while stack:
        each = stack.pop()
        if "lineno" in each._attributes:
            if hasattr(each, "lineno"):
                continue
            # One line: a call over several has the line of its last.
            each.lineno = each.end_lineno = place.lineno
            each.col_offset = each.end_col_offset = place.col_offset
        stack += ast.iter_child_nodes(each)
    return nodes[0] if len(nodes) == 1 else list(nodes)


# ---- early returns --------------------------------------------------------------------------------------------------


def _returns(block):
    """Whether a block has a return outside of loops, try and with."""
    return any(
        isinstance(each, ast.Return) or (isinstance(each, ast.If) and (_returns(each.body) or _returns(each.orelse)))
        for each in block
    )


class _Returns:
    """Turns early returns into assignments: what follows a branch that returns is its other side. Where that is not
    enough, because a side returns on some paths only, what follows runs under the condition that none has returned."""

    def __init__(self):
        self.guarded = False

    def lower(self, block):
        out = []
        for k, s in enumerate(block):
            if isinstance(s, ast.Return):
                value = s.value or ast.Constant(None)
                out += _at(s, _assign("_firn_ret", value), _assign("_firn_done", ast.Constant(True)))
                break
            if isinstance(s, ast.If) and (_returns(s.body) or _returns(s.orelse)):
                rest = block[k + 1 :]
                then, otherwise = ends(s.body), ends(s.orelse)
                if then and not otherwise:
                    s.orelse, rest = s.orelse + rest, []
                elif otherwise and not then:
                    s.body, rest = s.body + rest, []
                elif then and otherwise:
                    rest = []
                s.body, s.orelse = self.lower(s.body), self.lower(s.orelse)
                out.append(s)
                if rest:
                    self.guarded = True
                    test = ast.UnaryOp(ast.Not(), _name("_firn_done"))
                    out.append(_at(rest[0], ast.If(test, self.lower(rest), [])))
                break
            out.append(s)
        return out

    def function(self, body):
        """The body of a function with one return, at its end."""
        if not any(isinstance(s, ast.If) and (_returns(s.body) or _returns(s.orelse)) for s in body):
            return body
        if not ends(body):
            body = body + [_at(body[-1], ast.Return(None))]
        last = body[-1]
        body = self.lower(body)
        if self.guarded:
            body.insert(0, _at(body[0], _assign("_firn_done", ast.Constant(False))))
        else:
            _drop_done(body)
        return body + [_at(last, ast.Return(_method("_firn_f", "result", _name("_firn_ret"))))]


def _drop_done(block):
    block[:] = [s for s in block if not (isinstance(s, ast.Assign) and targets(s.targets[0]) == ["_firn_done"])]
    for s in block:
        if isinstance(s, ast.If):
            _drop_done(s.body)
            _drop_done(s.orelse)


# ---- one function ---------------------------------------------------------------------------------------------------


class _Function:
    """Rewrites one function; functions in it have their own."""

    def __init__(self, node, file, infos, outer_unsure=()):
        self.node, self.file, self.infos = node, file, infos
        self.specs = []
        self.number = len(infos)
        infos.append((self.specs, file.rsplit("/", 1)[-1]))
        self.loops = []  # (name of its recorder, the scopes around it)
        self.around = []  # names that scopes around a statement carry
        self.counter = 0
        self.outer_unsure = set(outer_unsure)
        self.unsure = set()
        self.shadowed = []

    # ---- the whole function

    def rewrite(self):
        node = self.node
        doc = []
        body = list(node.body)
        first = body[0].value if isinstance(body[0], ast.Expr) else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            doc, body = body[:1], body[1:]
        if not body:
            return node
        returns = _Returns()
        node.body = body = returns.function(body)
        self.returned = "_firn_ret" if returns.guarded else None
        nodes = own_nodes_of_body(node)
        self.globals = declared(nodes, ast.Global)
        self.nonlocals = declared(nodes, ast.Nonlocal)
        self.stored = {
            each.value.id
            for each in nodes
            if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store) and isinstance(each.value, ast.Name)
        }
        self.has_delete = any(isinstance(each, ast.Delete) for each in nodes)
        outside = self.globals | self.nonlocals
        parameters = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        self.locals = (set(assigned(ast.Module(body, []))) | parameters) - outside
        excepted = {each.name for each in nodes if isinstance(each, ast.ExceptHandler) and each.name}
        self.captured = captured(node)
        self.live = Liveness(node)
        self.binding = Binding(node)
        self.carried = {}  # by statement: the names that its scope may carry
        self.restored = {}  # by branch: other names that its second side begins with
        scopes = [each for each in nodes if isinstance(each, (ast.If, *LOOPS))]
        inside = {name for each in scopes for name in assigned(each)}
        self.roots = {
            root for each in scopes for root, _, _ in stored_attributes(each) if root in inside and root in self.locals
        }
        unsure = set()
        for each in scopes:
            names = assigned(each)
            names += [root for root, _, _ in stored_attributes(each) if root in self.roots and root not in names]
            needed = self.live.needed(each) | self.captured
            self.carried[each] = [
                name for name in dict.fromkeys(names) if name in self.locals and name not in excepted and name in needed
            ]
            if isinstance(each, ast.If):
                first = [name for side in each.body for name in assigned(side)]
                self.restored[each] = [
                    name
                    for name in dict.fromkeys(first)
                    if name in self.locals and name in self.live.second[each] and name not in self.carried[each]
                ]
            needed = [*self.carried[each], *self.restored.get(each, ())]
            unsure |= {name for name in needed if name not in self.binding.at.get(each, ())}
        unsure -= parameters
        self.unsure = unsure | (self.outer_unsure - self.locals)
        start = []
        if unsure:
            names = [_name(name, True) for name in sorted(unsure)]
            start = [_at(body[0], ast.Assign(names, _attribute("_firn_", "UNBOUND")))]
        written = start + self.block(body)
        if not scopes and not outside and not any(
            isinstance(each, _FRAMED) and not (isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load))
            for each in nodes
        ):
            node.body = doc + written
            return node
        info = ast.Subscript(_attribute("_firn_", "infos"), ast.Constant(self.number), ast.Load())
        enter = ast.withitem(_method("_firn_", "Frame", info), _name("_firn_f", True))
        node.body = doc + [_at(body[0], ast.With([enter], written))]
        declarations = [s for s in written if isinstance(s, (ast.Global, ast.Nonlocal))]
        if declarations:
            node.body[len(doc) : len(doc)] = declarations
            for each in declarations:
                written.remove(each)
        return node

    def fresh(self, kind):
        self.counter += 1
        return f"_firn_{kind}{self.counter}"

    # ---- statements

    def block(self, statements):
        out = []
        for each in statements:
            out += self.statement(each)
        return out

    def statement(self, s):
        method = getattr(self, "do_" + type(s).__name__, None)
        if method:
            return method(s)
        return [self.children(s), *self.sets(s, bound_by(s))]

    def children(self, node):
        """The statement with its expressions rewritten."""
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, field, self.expression(value))
            elif isinstance(value, list):
                setattr(node, field, [self.expression(each) if isinstance(each, ast.expr) else each for each in value])
        return node

    def is_carried(self, name):
        return any(name in each for each in self.around)

    def sets(self, s, names, stored=()):
        """Statements behind one that binds names: recorded scopes around it carry them."""
        out = []
        other = s.value.id if isinstance(s, ast.Assign) and isinstance(s.value, ast.Name) else None
        for name in dict.fromkeys(names):
            if self.is_carried(name) and other is not None and (name in self.stored or other in self.stored):
                set_name = _method("_firn_f", "set_name", ast.Constant(name), _name(name), ast.Constant(other))
                out.append(_assign(name, set_name))
            elif self.is_carried(name):
                out.append(_assign(name, _method("_firn_f", "set", ast.Constant(name), _name(name))))
            elif name in self.globals or name in self.nonlocals:
                what = "the global name" if name in self.globals else "the nonlocal name"
                out.append(ast.Expr(_method("_firn_f", "outside", ast.Constant(what), ast.Constant(name))))
        for node in stored:
            found = root_of(node)
            if not found:
                continue
            root, path = found
            if root in self.roots:
                if self.is_carried(root):
                    out.append(_assign(root, _method("_firn_f", "set", ast.Constant(root), _name(root))))
            else:
                base = ast.parse(path, mode="eval").body
                _strip(base)
                out.append(ast.Expr(_method("_firn_f", "put", base, ast.Constant(node.attr))))
        for each in out:
            _at(s, each)
        return out

    @staticmethod
    def attributes_in(target):
        if isinstance(target, ast.Attribute):
            return [target]
        if isinstance(target, (ast.Tuple, ast.List)):
            return [found for each in target.elts for found in _Function.attributes_in(each)]
        if isinstance(target, ast.Starred):
            return _Function.attributes_in(target.value)
        return []

    def do_Assign(self, s):
        stored = [found for each in s.targets for found in self.attributes_in(each)]
        return [self.children(s), *self.sets(s, bound_by(s), stored)]

    def do_AnnAssign(self, s):
        names = bound_by(s)
        stored = self.attributes_in(s.target) if s.value is not None else []
        s.target = self.expression(s.target)
        if s.value is not None:
            s.value = self.expression(s.value)
        return [s, *self.sets(s, names, stored)]

    def do_AugAssign(self, s):
        before = []
        if isinstance(s.target, ast.Name) and s.target.id in self.unsure:
            before = [_at(s, ast.Expr(self.loaded(s.target.id)))]
        return [*before, self.children(s), *self.sets(s, bound_by(s), self.attributes_in(s.target))]

    def do_Delete(self, s):
        out = []
        for each in s.targets:
            if isinstance(each, ast.Name):
                refusal = _method("_firn_f", "outside", ast.Constant("the name"), ast.Constant(each.id))
                out.append(_at(s, ast.Expr(refusal)))
                if each.id in self.unsure:
                    out.append(_at(s, _assign(each.id, _attribute("_firn_", "UNBOUND"))))
                    continue
            out.append(_at(s, ast.Delete([self.expression(each)])))
        return out

    def do_Return(self, s):
        if self.loops or self.guarded_returns:
            value = self.expression(s.value) if s.value else ast.Constant(None)
            return [_at(s, ast.Return(_at(s, _method("_firn_f", "give", value))))]
        return [self.children(s)]

    guarded_returns = 0

    def do_FunctionDef(self, s):
        self.definition(s)
        if not _is_generator(s):
            inner = _Function(s, self.file, self.infos, self.unsure)
            inner.rewrite()
        return [s, *self.sets(s, [s.name])]

    def do_AsyncFunctionDef(self, s):
        self.definition(s)
        return [s, *self.sets(s, [s.name])]

    def definition(self, s):
        s.decorator_list = [self.expression(each) for each in s.decorator_list]
        s.args.defaults = [self.expression(each) for each in s.args.defaults]
        s.args.kw_defaults = [each and self.expression(each) for each in s.args.kw_defaults]

    def do_ClassDef(self, s):
        s.decorator_list = [self.expression(each) for each in s.decorator_list]
        s.bases = [self.expression(each) for each in s.bases]
        for k, each in enumerate(s.body):
            if isinstance(each, ast.FunctionDef) and not _is_generator(each):
                self.definition(each)
                _Function(each, self.file, self.infos, self.unsure).rewrite()
        return [s, *self.sets(s, [s.name])]

    def do_Match(self, s):
        s.subject = self.expression(s.subject)
        self.guarded_returns += 1
        for case in s.cases:
            names = assigned(case.pattern)
            if case.guard is not None:
                case.guard = self.expression(case.guard)
            case.body = self.sets(case.body[0], names) + self.block(case.body)
        self.guarded_returns -= 1
        return [s]

    def do_With(self, s):
        for item in s.items:
            item.context_expr = self.expression(item.context_expr)
        names = bound_by(s)
        depth = self.fresh("d")
        self.guarded_returns += 1
        s.body = self.sets(s, names) + self.block(s.body)
        self.guarded_returns -= 1
        return [
            _at(s, _assign(depth, _method("_firn_f", "depth"))),
            s,
            _at(s, ast.Expr(_method("_firn_f", "caught", _name(depth)))),
        ]

    def do_Try(self, s):
        depth = self.fresh("d")
        caught = ast.Expr(_method("_firn_f", "caught", _name(depth)))
        self.guarded_returns += 1
        s.body = self.block(s.body)
        for each in s.handlers:
            each.type = each.type and self.expression(each.type)
            each.body = [_at(each, _copy(caught)), *self.block(each.body)]
        s.orelse = self.block(s.orelse)
        if s.finalbody:
            s.finalbody = [_at(s.finalbody[0], _copy(caught)), *self.block(s.finalbody)]
        self.guarded_returns -= 1
        return [_at(s, _assign(depth, _method("_firn_f", "depth"))), s]

    do_TryStar = do_Try

    # ---- recorded scopes

    def spec(self, s, names, has_else=False, carried=None):
        """The number of what is known of a scope, and the objects of the attributes that it assigns."""
        places = []
        for root, path, attribute in stored_attributes(s):
            if root not in self.roots and (path, attribute) not in places:
                places.append((path, attribute))
        refused = []
        for each in own_nodes(s) if self.globals or self.nonlocals or self.has_delete else ():
            if isinstance(each, ast.stmt):
                for name in bound_by(each):
                    if name in self.globals:
                        refused.append(("the global name", name, each.lineno))
                    elif name in self.nonlocals:
                        refused.append(("the nonlocal name", name, each.lineno))
            if isinstance(each, ast.Delete):
                for target in each.targets:
                    if isinstance(target, ast.Name):
                        refused.append(("the name", target.id, each.lineno))
        count = len(names) if carried is None else carried
        stored = live = idle = ()
        if isinstance(s, ast.If):
            idle = set(names) - self.live.start[s] - self.captured
        if isinstance(s, LOOPS):
            stored = self.stored & set(names)
            live = self.live.needed(s) | self.captured if stored else ()
        self.specs.append(
            Spec(tuple(names), tuple(places), tuple(refused), has_else, self.returned, count, stored, live, idle)
        )
        bases = []
        for path, _ in places:
            base = ast.parse(path, mode="eval").body
            _strip(base)
            bound = base
            while isinstance(bound, ast.Attribute):
                bound = bound.value
            surely = bound.id not in self.locals or bound.id in self.binding.at.get(s, ())
            if isinstance(base, ast.Attribute) or not surely:
                base = _method("_firn_", "reach", _lambda(base))
            bases.append(base)
        return ast.Constant(len(self.specs) - 1), ast.Tuple(bases, ast.Load())

    def values_at_end(self, s, block, names):
        """The values of names at the end of a block; None where control only comes there because break and continue
        are recorded, so that the names may have those of scopes in it."""
        return ast.Constant(None) if self.binding.ended[s][block] else _tuple(names)

    def rebind(self, scope, names):
        return ast.Assign([_tuple(names, True)], _attribute(scope, "values"))

    def do_If(self, s):
        carried = self.carried[s]
        names = [*carried, *self.restored[s]]
        scope = self.fresh("s")
        spec, objects = self.spec(s, names, carried=len(carried))
        test = self.expression(s.test)
        out = [_at(s, _assign(scope, _method("_firn_f", "branch", test, spec, _tuple(names), objects)))]
        self.around.append(carried)
        out.append(_at(s, ast.If(_attribute(scope, "then"), self.block(s.body) or [_at(s, ast.Pass())], [])))
        if s.orelse:
            second = self.block(s.orelse)
            if names:
                second.insert(0, _at(s, ast.If(_attribute(scope, "recorded"), [self.rebind(scope, names)], [])))
            out.append(_at(s, ast.If(_method(scope, "otherwise", self.values_at_end(s, 0, names)), second, [])))
        self.around.pop()
        merge = _method(scope, "merge", self.values_at_end(s, 1 if s.orelse else 0, names))
        out.append(_at(s, ast.If(merge, [self.rebind(scope, names)], []) if names else ast.Expr(merge)))
        return out

    def loop_body(self, s, scope, names, start, body):
        """The body between what a recorded iteration begins and ends with."""
        inside = []
        if names:
            inside.append(_at(s, ast.If(_attribute(scope, "recorded"), [self.rebind(scope, names)], [])))
        inside += start
        self.around.append(names)
        self.loops.append((scope, len(self.around), s))
        inside += body()
        self.loops.pop()
        self.around.pop()
        return inside

    def guarded(self, s, scope, inside):
        handler = ast.ExceptHandler(_attribute("_firn_", "Retry"), None, [ast.Expr(_method(scope, "retry"))])
        return [_at(s, ast.Try(inside, [handler], [], []))]

    def otherwise(self, s):
        """The else of a loop."""
        self.guarded_returns += 1
        out = self.block(s.orelse)
        self.guarded_returns -= 1
        return out

    def behind_loop(self, s, scope, names):
        if not names:
            return []
        return [_at(s, ast.If(_attribute(scope, "recorded"), [self.rebind(scope, names)], []))]

    def do_For(self, s):
        names = self.carried[s]
        scope, index = self.fresh("s"), self.fresh("i")
        spec, objects = self.spec(s, names, bool(s.orelse))
        iterable = self.expression(s.iter)
        make = _at(s, _assign(scope, _method("_firn_f", "loop", iterable, spec, _tuple(names), objects)))

        def body():
            target = _at(s, ast.Assign([self.expression(s.target)], _name(index)))
            out = [target, *self.sets(s, bound_by(s), self.attributes_in(s.target))]
            end = _method(scope, "end", self.values_at_end(s, 0, names))
            return out + self.block(s.body) + [_at(s, ast.Expr(end))]

        inside = self.guarded(s, scope, self.loop_body(s, scope, names, [], body))
        loop = _at(s, ast.For(_name(index, True), _name(scope), inside, self.otherwise(s)))
        return [make, loop, *self.behind_loop(s, scope, names)]

    def do_While(self, s):
        names = self.carried[s]
        scope = self.fresh("s")
        spec, objects = self.spec(s, names, bool(s.orelse))
        make = _at(s, _assign(scope, _method("_firn_f", "while_", spec, objects)))

        def body():
            test = _at(s, _method(scope, "test", self.expression(s.test)))
            end = _method(scope, "end", self.values_at_end(s, 0, names))
            then = self.block(s.body) + [_at(s, ast.Expr(end))]
            return [_at(s, ast.If(test, then, []))]

        inside = self.guarded(s, scope, self.loop_body(s, scope, names, [], body))
        loop = _at(s, ast.While(_method(scope, "next", _tuple(names)), inside, self.otherwise(s)))
        return [make, loop, *self.behind_loop(s, scope, names)]

    def jump(self, s, what):
        scope, depth, loop = self.loops[-1]
        needed = self.captured | (self.live.after[loop] if what == "break" else self.live.head[loop])
        names = [name for name in dict.fromkeys(n for each in self.around[depth - 1 :] for n in each) if name in needed]
        self.specs.append(Spec(tuple(names), ()))
        way = self.fresh("w")
        leave = _method(
            "_firn_f", "leave", _name(scope), ast.Constant(what), ast.Constant(len(self.specs) - 1), _tuple(names)
        )
        out = [_assign(way, leave)]
        if what == "break":
            out.append(ast.If(ast.Compare(_name(way), [ast.Eq()], [ast.Constant(1)]), [ast.Break()], []))
        out.append(ast.If(ast.Compare(_name(way), [ast.Eq()], [ast.Constant(2)]), [ast.Continue()], []))
        return _at(s, *out)

    def do_Break(self, s):
        return self.jump(s, "break")

    def do_Continue(self, s):
        return _listed(self.jump(s, "continue"))

    # ---- expressions

    def loaded(self, name):
        return _method("_firn_", "load", _name(name), ast.Constant(name))

    def expression(self, node):
        if isinstance(node, ast.Name):
            unsure = isinstance(node.ctx, ast.Load) and node.id in self.unsure
            if unsure and not any(node.id in each for each in self.shadowed):
                return _at(node, self.loaded(node.id))
            return node
        if isinstance(node, ast.Lambda):
            names = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
            self.definition_of_lambda(node)
            self.shadowed.append(names)
            node.body = self.expression(node.body)
            self.shadowed.pop()
            return node
        if isinstance(node, COMPREHENSIONS):
            names = {name for each in node.generators for name in targets(each.target)}
            self.shadowed.append(names)
            self.parts(node)
            self.shadowed.pop()
            return node
        if isinstance(node, ast.NamedExpr):
            node.value = self.expression(node.value)
            if self.is_carried(node.target.id):
                node.value = _at(node, _method("_firn_f", "set", ast.Constant(node.target.id), node.value))
            return node
        if isinstance(node, (ast.IfExp, ast.BoolOp, ast.UnaryOp, ast.Compare)):
            return self.decision(node)
        return self.parts(node)

    def definition_of_lambda(self, node):
        node.args.defaults = [self.expression(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.expression(each) for each in node.args.kw_defaults]

    def parts(self, node):
        for field, value in ast.iter_fields(node):
            if isinstance(value, (ast.expr, ast.comprehension, ast.keyword, ast.FormattedValue)):
                setattr(node, field, self.expression(value))
            elif isinstance(value, list):
                setattr(node, field, [self.expression(each) if isinstance(each, ast.AST) else each for each in value])
        return node

    def decision(self, node):
        """Conditional expressions, `and`, `or`, `not` and chained comparisons, which decide by truth."""
        if isinstance(node, ast.UnaryOp):
            self.parts(node)
            return _at(node, _method("_firn_", "not_", node.operand)) if isinstance(node.op, ast.Not) else node
        if isinstance(node, ast.IfExp):
            late = [node.body, node.orelse]
        elif isinstance(node, ast.BoolOp):
            late = node.values[1:]
        else:
            late = node.comparators[1:]
        plain = isinstance(node, ast.Compare) and (
            len(node.ops) == 1 or any(isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in node.ops)
        )
        # A name that is bound in a part that may not run would be the lambda's.
        if plain or any(isinstance(each, (ast.NamedExpr, ast.Await)) for part in late for each in own_nodes(part)):
            return self.parts(node)
        self.parts(node)
        if isinstance(node, ast.IfExp):
            return _at(node, _method("_firn_", "choose", node.test, _lambda(node.body), _lambda(node.orelse)))
        if isinstance(node, ast.BoolOp):
            name = "and_" if isinstance(node.op, ast.And) else "or_"
            out = node.values[-1]
            for each in reversed(node.values[:-1]):
                out = _method("_firn_", name, each, _lambda(out))
            return _at(node, out)
        kinds = ast.Tuple([ast.Constant(type(op).__name__) for op in node.ops], ast.Load())
        more = [_lambda(each) for each in node.comparators[1:]]
        return _at(node, _method("_firn_", "chain", kinds, node.left, node.comparators[0], *more))


def _listed(nodes):
    return nodes if isinstance(nodes, list) else [nodes]


def _strip(node):
    """Takes the line of a node, which has another one in the function."""
    for each in ast.walk(node):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(each, name):
                delattr(each, name)


def _copy(node):
    """A copy of a tree, without what other libraries hang on its nodes (contexts are one object for all trees)."""
    made = type(node)()
    for name in (*node._fields, *node._attributes):
        if not hasattr(node, name):
            continue
        value = getattr(node, name)
        if isinstance(value, ast.AST):
            value = _copy(value)
        elif isinstance(value, list):
            value = [_copy(each) if isinstance(each, ast.AST) else each for each in value]
        setattr(made, name, value)
    return made


def _is_generator(function):
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in own_nodes_of_body(function))


# ---- from a function to its source and back -------------------------------------------------------------------------

_sources = {}  # by file: its lines as linecache has them, their tree, and the codes of its functions
_made = set()  # codes that rewriting has made
_rewritten = {}  # by code: the rewritten code, and what its function reaches by _firn_


def _where(function):
    code = function.__code__
    return f"{code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}"


def _source_of(lines, file, flags):
    """The tree of a file, and the codes of its functions by name and first line."""
    kept = _sources.get(file)
    if kept is None or kept[0] is not lines:
        codes = {}
        try:
            tree = ast.parse("".join(lines), file)
            _collect(compile(tree, file, "exec", flags=flags, dont_inherit=True), codes)
        except SyntaxError:
            tree = None
        kept = _sources[file] = (lines, tree, codes)
    return kept[1:]


def _collect(code, codes):
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            codes.setdefault((each.co_name, each.co_firstlineno), []).append(each)
            _collect(each, codes)


def _first_line(node):
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def _find(tree, code):
    """The definition of a code object, and the names of the classes around it."""

    def visit(node, classes):
        for each in ast.iter_child_nodes(node):
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if each.name == code.co_name and _first_line(each) == code.co_firstlineno:
                    return each, classes
            inside = [*classes, each.name] if isinstance(each, ast.ClassDef) else classes
            found = visit(each, inside)
            if found:
                return found
        return None

    return visit(tree, [])


def _find_lambda(tree, code):
    """The lambda expression of a code object, and the names of the classes around it."""
    places = [(a, c, b, d) for a, b, c, d in code.co_positions() if a is not None and d]

    def contains(node):
        begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        return all(begin <= (a, c) and (b, d) <= end for a, c, b, d in places)

    def visit(node, classes):
        for each in ast.iter_child_nodes(node):
            found = visit(each, [*classes, each.name] if isinstance(each, ast.ClassDef) else classes)
            if found:
                return found  # the innermost
            if isinstance(each, ast.Lambda) and each.lineno == code.co_firstlineno and contains(each.body):
                return each, classes
        return None

    return visit(tree, [])


def _compile(definition, classes, code, file):
    """The code of a definition, with the free variables of the function that it was."""
    free = ["_firn_", *(name for name in code.co_freevars if name != "__class__" or not classes)]
    inner = [ast.Expr(definition) if isinstance(definition, ast.Lambda) else definition]
    for name in classes[-1:]:  # private names are the class's; its own name stays what it is outside
        inner = [ast.Global([name])] * (name not in free) + [ast.ClassDef(name, [], [], inner, [])]
    arguments = ast.arguments([], [ast.arg(name) for name in free], None, [], [], None, [])
    factory = _at(definition, ast.FunctionDef("_firn_factory", arguments, inner, [], None))
    for each in ast.walk(arguments):
        if isinstance(each, ast.arg):
            ast.copy_location(each, definition)
    module = ast.fix_missing_locations(ast.Module([factory], []))
    made = compile(module, file, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    for name in ["_firn_factory", *classes[-1:], code.co_name]:
        made = next(each for each in made.co_consts if isinstance(each, types.CodeType) and each.co_name == name)
    return made


def _differ(a, b):
    """Whether two codes do different things: of the function as it was imported, and of the file as it is now."""
    if a.co_code != b.co_code or a.co_names != b.co_names or a.co_varnames != b.co_varnames:
        return True
    if len(a.co_consts) != len(b.co_consts):
        return True
    for x, y in zip(a.co_consts, b.co_consts):
        if isinstance(x, types.CodeType):
            if not isinstance(y, types.CodeType) or _differ(x, y):
                return True
        elif type(x) is not type(y) or (x != y and x == x):
            return True
    return False


def _refuse_kinds(function):
    flags = function.__code__.co_flags
    for flag, what in (
        (inspect.CO_COROUTINE, "an async function"),
        (inspect.CO_ASYNC_GENERATOR, "an async generator"),
        (inspect.CO_GENERATOR, "a generator"),
    ):
        if flags & flag:
            raise _firn.UserError(
                f"{function.__qualname__} is {what}, and a recorded function runs once, from its start to its return: "
                f"return the values, as a tuple ({_where(function)})"
            )


def _code_of(function):
    code = function.__code__
    key = (code, code.co_filename)
    if key in _rewritten:
        return _rewritten[key]
    file = code.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        return None  # as of exec: with-forms record there
    tree, codes = _source_of(lines, file, code.co_flags & _FUTURE)
    is_lambda = code.co_name == "<lambda>"
    found = tree and (_find_lambda if is_lambda else _find)(tree, code)
    of_pytest = any("@py" in name for name in (*code.co_names, *code.co_varnames))
    if not found or not (
        of_pytest or any(not _differ(code, each) for each in codes.get((code.co_name, code.co_firstlineno), ()))
    ):
        raise _firn.UserError(
            f"{function.__qualname__}: its file has changed since it was imported, so its source is not known; import "
            f"it again ({_where(function)})"
        )
    definition, classes = found
    definition = _copy(definition)
    infos = []
    if is_lambda:
        definition.body = _Function(definition, file, infos).expression(definition.body)
    else:
        definition.decorator_list = []
        _Function(definition, file, infos).rewrite()
    made = _compile(definition, classes, code, file)
    changes = {"co_qualname": code.co_qualname} if hasattr(code, "co_qualname") else {}
    made = made.replace(**changes)
    _rewritten[key] = made, Runtime(infos)
    _note(made)
    return _rewritten[key]


def _note(made):
    _made.add(made)
    for each in made.co_consts:
        if isinstance(each, types.CodeType):
            _note(each)


def rewrite_function(function):
    _refuse_kinds(function)
    inner = getattr(function, "__wrapped__", None)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    if isinstance(inner, types.FunctionType):
        # A decorator's function around the one that is meant.
        changed = {}
        for name, cell in cells.items():
            try:
                if cell.cell_contents is inner:
                    changed[name] = types.CellType(rewrite_function(inner))
            except ValueError:
                pass
        if changed:
            return _remade(function, function.__code__, tuple({**cells, **changed}.values()))
    if function.__code__ in _made:
        return function  # rewritten with the function around it
    found = _code_of(function)
    if found is None:
        return function
    code, runtime = found
    if "_firn_" not in code.co_freevars:
        return function  # nothing in it decides
    cells["_firn_"] = types.CellType(runtime)
    return _remade(function, code, tuple(cells[name] for name in code.co_freevars))


def _remade(function, code, closure):
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    made.__dict__.update(function.__dict__)
    made._firn_rewritten = True
    return made
