// Makes random expressions of a given shape.
#include "tests/programs/make_expr.h"

#include <algorithm>

namespace firn::programs {

bool fits(const Extents& small, const Extents& large) {
    if (small.size() > large.size()) return false;
    for (size_t k = 0; k < small.size(); ++k)
        if (small[k] != Extent{1} && small[k] != large[large.size() - small.size() + k])
            return false;
    return true;
}

Expr literal_of(double value, DType dtype) {
    Expr e;
    e.number = value, e.dtype = dtype;
    return e;
}

Expr handle_of(int handle) {
    Expr e;
    e.form = Form::Handle, e.handle = handle;
    return e;
}

Expr apply_of(Fn fn, std::vector<Expr> args) {
    Expr e;
    e.form = Form::Apply, e.fn = fn, e.args = std::move(args);
    return e;
}

Typed cast_of(Typed x, DType dtype) {
    if (x.dtype == dtype && !x.weak) return x;
    Expr e;
    e.form = Form::Cast, e.dtype = dtype, e.args = {std::move(x.expr)};
    return {std::move(e), dtype, false, x.own_place};
}

Typed applied(Fn fn, std::vector<Typed> operands) {
    std::vector<Operand> types;
    std::vector<Expr> args;
    bool own_place = false;
    for (size_t k = 0; k < operands.size(); ++k) {
        if (fn != Fn::Select || k > 0)
            types.push_back({operands[k].dtype, operands[k].weak,
                             static_cast<int64_t>(operands[k].expr.number)});
        own_place |= operands[k].own_place;
        args.push_back(std::move(operands[k].expr));
    }
    return {apply_of(fn, std::move(args)), types_of(fn, types).result, false, own_place};
}

namespace {

Typed form_of(Form form, Typed x) {
    Expr e;
    e.form = form, e.args = {std::move(x.expr)};
    return {std::move(e), x.dtype, false, x.own_place};
}

Typed index_of(const Extents& extents, int axis) {
    Expr e;
    e.form = Form::Index, e.extents = extents, e.axis = axis;
    return {std::move(e), i32};
}

}  // namespace

DType ExprMaker::any_dtype() {
    return dice_.pick({i32, i32, i32, i32, f32, f32, f32, u32, boolean, i64, u64, f64, f16, bf16,
                       i16, u16, i8, u8});
}

const Variable* ExprMaker::some(const Extents& extents, bool anywhere) {
    std::vector<const Variable*> all;
    for (const Variable& each : variables_)
        if (each.extents == extents && !(anywhere && each.own_place)) all.push_back(&each);
    if (all.empty()) return nullptr;
    // The newest are those that the statements before have changed.
    return dice_.chance(30) ? all.back() : dice_.of(all);
}

Typed ExprMaker::literal(bool is_float) {
    if (is_float) return {literal_of(dice_.pick({0.5, 1.0, 2.0, -1.0, 0.25, 3.0}), f32), f32, true};
    return {literal_of(dice_.pick({0, 1, 2, 3, 5, 7, -1, -2}), i32), i32, true};
}

Typed ExprMaker::scalar_leaf(bool anywhere) {
    if (dice_.chance(60))
        if (const Variable* found = some({}, anywhere))
            return {handle_of(found->handle), found->dtype, false, found->own_place};
    Expr e;
    if (dice_.chance(30)) {
        const Variable& any = dice_.of(variables_);
        if (!any.extents.empty()) {
            e.form = Form::Size, e.extents = {dice_.of(any.extents)};
            return {e, i32};
        }
    }
    e.form = Form::Cast, e.dtype = dice_.pick({i32, i32, f32, i64, u32});
    e.args = {literal_of(dice_.below(6))};
    return {e, e.dtype};
}

Typed ExprMaker::leaf(const Extents& extents, bool anywhere) {
    if (extents.empty()) return scalar_leaf(anywhere);
    if (dice_.chance(75))
        if (const Variable* found = some(extents, anywhere))
            return {handle_of(found->handle), found->dtype, false, found->own_place};
    if (dice_.chance(60)) return index_of(extents, dice_.below(static_cast<int>(extents.size())));
    if (dice_.chance(50)) {
        std::vector<const Variable*> smaller;
        for (const Variable& each : variables_)
            if (fits(each.extents, extents) && !(anywhere && each.own_place))
                smaller.push_back(&each);
        if (!smaller.empty()) {
            const Variable& from = *dice_.of(smaller);
            Typed out =
                form_of(Form::Expand, {handle_of(from.handle), from.dtype, false, from.own_place});
            out.expr.extents = extents;
            return out;
        }
    }
    Expr e;
    e.form = Form::Full, e.extents = extents, e.number = dice_.below(4), e.dtype = any_dtype();
    return {e, e.dtype};
}

/// Makes a value of a shape that broadcasts to `extents`.
Typed ExprMaker::part(const Extents& extents, int depth, bool anywhere) {
    const int kind = dice_.below(10);
    if (kind < 3) return literal(dice_.chance(25));
    if (kind < 7 || extents.empty()) return make(extents, depth, anywhere);
    Extents smaller = extents;
    if (dice_.chance(40))
        smaller.erase(smaller.begin(),
                      smaller.begin() + dice_.below(static_cast<int>(smaller.size()) + 1));
    else
        smaller[static_cast<size_t>(dice_.below(static_cast<int>(smaller.size())))] = Extent{1};
    return make(smaller, depth, anywhere);
}

Typed ExprMaker::binary(const Extents& extents, int depth, bool anywhere) {
    Typed a = make(extents, depth - 1, anywhere), b = part(extents, depth - 1, anywhere);
    const Fn fn = dice_.pick({Fn::Add, Fn::Add, Fn::Add, Fn::Sub, Fn::Sub, Fn::Mul, Fn::Mul,
                              Fn::Div, Fn::Mod, Fn::Min, Fn::Max});
    const bool is_float = types_of(fn, {{a.dtype}, {b.dtype, b.weak}}).operand.is_float();
    if (fn == Fn::Div || fn == Fn::Mod) {
        // Floats are divided by powers of two, which is exact.
        if (is_float) b = {literal_of(dice_.pick({2.0, 4.0, 16.0}), f32), f32, true};
        return applied(fn, {std::move(a), std::move(b)});
    }
    if (!b.weak && dice_.chance(30))
        std::swap(a, b);
    else if (b.weak && dice_.chance(20) && fn != Fn::Min && fn != Fn::Max)
        std::swap(a, b);
    Typed out = applied(fn, {std::move(a), std::move(b)});
    if (fn != Fn::Mul) return out;
    // Products stay small enough to be exact.
    if (is_float)
        out = applied(Fn::Mod,
                      {applied(Fn::Floor, {std::move(out)}), {literal_of(64, f32), f32, true}});
    else if (dice_.chance(60))
        out =
            applied(Fn::Mod, {std::move(out), {literal_of(dice_.pick({97, 10, 1000})), i32, true}});
    return out;
}

Typed ExprMaker::unary(const Extents& extents, int depth, bool anywhere) {
    Typed x = make(extents, depth - 1, anywhere);
    if (dice_.chance(5)) {  // of which one side is 0, so that it is exact
        Typed zero = dice_.chance(40) ? Typed{literal_of(0, f32), f32, true}
                                      : cast_of({literal_of(0)}, any_dtype());
        if (dice_.chance(50)) std::swap(x, zero);
        return applied(Fn::Hypot, {std::move(x), std::move(zero)});
    }
    // Few devices have functions of f64.
    if (dice_.chance(6))
        return applied(Fn::Gate, {x.dtype == f64 ? cast_of(std::move(x), f32) : std::move(x)});
    return applied(dice_.pick({Fn::Neg, Fn::Abs, Fn::Sign, Fn::Floor}), {std::move(x)});
}

Typed ExprMaker::bits(const Extents& extents, int depth, bool anywhere) {
    auto integer = [&](Typed x) {
        return x.dtype.is_float() ? cast_of(std::move(x), dice_.pick({i32, i64, u32})) : x;
    };
    Typed a = integer(make(extents, depth - 1, anywhere));
    if (dice_.chance(15)) return applied(Fn::BitNot, {std::move(a)});
    if (dice_.chance(35))
        return applied(dice_.pick({Fn::ShiftLeft, Fn::ShiftRight, Fn::ShiftRight}),
                       {std::move(a), {literal_of(dice_.below(5)), i32, true}});
    Typed b = part(extents, depth - 1, anywhere);
    if (b.dtype.is_float()) b = b.weak ? literal(false) : integer(std::move(b));
    return applied(dice_.pick({Fn::And, Fn::Or, Fn::Xor}), {std::move(a), std::move(b)});
}

Typed ExprMaker::condition(const Extents& extents, int depth, bool anywhere) {
    if (extents.empty() && dice_.chance(2)) {
        Expr fresh;
        fresh.form = Form::Fresh;
        return {std::move(fresh), boolean};
    }
    if (depth > 0 && dice_.chance(15))
        return applied(dice_.pick({Fn::And, Fn::Or}), {condition(extents, depth - 1, anywhere),
                                                       condition(extents, depth - 1, anywhere)});
    if (dice_.chance(10)) return applied(Fn::Not, {condition(extents, 0, anywhere)});
    if (dice_.chance(10)) return cast_of(make(extents, depth - 1, anywhere), boolean);
    Typed a = make(extents, depth - 1, anywhere), b = part(extents, depth - 1, anywhere);
    if (dice_.chance(30))
        a = applied(Fn::Mod,
                    {cast_of(std::move(a), i32), {literal_of(dice_.pick({2, 3, 4})), i32, true}});
    return applied(dice_.pick({Fn::Less, Fn::Less, Fn::LessEqual, Fn::Equal, Fn::NotEqual}),
                   {std::move(a), std::move(b)});
}

Typed ExprMaker::select(const Extents& extents, int depth, bool anywhere) {
    Typed test = condition(extents, depth - 1, anywhere), a = make(extents, depth - 1, anywhere),
          b = part(extents, depth - 1, anywhere);
    return applied(Fn::Select, {std::move(test), std::move(a), std::move(b)});
}

Typed ExprMaker::place(const Extents& extents, const Extent& axis, int depth, bool anywhere) {
    Typed x;
    if (!extents.empty() && dice_.chance(70))
        x = index_of(extents, dice_.below(static_cast<int>(extents.size())));
    else
        x = cast_of(make(extents, depth, anywhere), i32);
    if (dice_.chance(45))
        x = applied(Fn::Add,
                    {std::move(x), {literal_of(dice_.pick({1, -1, 2, -2, 3})), i32, true}});
    if (dice_.chance(15) && !axis.symbol)
        x = applied(Fn::Sub,
                    {{literal_of(static_cast<double>(axis.number - 1)), i32, true}, std::move(x)});
    if (dice_.chance(15))
        x = applied(Fn::Mod, {std::move(x), {literal_of(dice_.pick({3, 4, 7})), i32, true}});
    if (dice_.chance(5)) x = cast_of(std::move(x), dice_.pick({i64, u32, u8}));
    return x;
}

Typed ExprMaker::count(int most, bool anywhere) {
    Typed x = cast_of(make({}, 2, anywhere), i32);
    return applied(Fn::Abs, {applied(Fn::Mod, {std::move(x), {literal_of(most + 1), i32, true}})});
}

/// x(place...), with places of any shape that make the one that is asked for.
Typed ExprMaker::element(const Extents& extents, int depth, bool anywhere) {
    std::vector<const Variable*> sources;
    for (const Variable& each : variables_)
        if (!each.extents.empty() && !each.own_place) sources.push_back(&each);
    if (sources.empty()) return leaf(extents, anywhere);
    const Variable& source = *dice_.of(sources);
    Typed out{handle_of(source.handle), source.dtype};
    Expr e;
    e.form = Form::Read;
    e.edge = dice_.pick({Edge::Clamp, Edge::Clamp, Edge::Clamp, Edge::Wrap, Edge::Mirror,
                         Edge::Reflect, Edge::Zero, Edge::Fill});
    e.number = dice_.below(3);
    e.args = {handle_of(source.handle)};
    const bool rows = source.extents.size() > 1 && extents.size() >= source.extents.size() - 1 &&
                      dice_.chance(25) &&
                      std::equal(source.extents.begin() + 1, source.extents.end(),
                                 extents.end() - static_cast<long>(source.extents.size() - 1));
    Extents lead = extents;
    if (rows) lead.resize(extents.size() - (source.extents.size() - 1));
    for (size_t axis = 0; axis < (rows ? 1 : source.extents.size()); ++axis) {
        // One of the places has the whole shape.
        Typed at = axis == 0 || dice_.chance(50)
                       ? place(lead, source.extents[axis], depth - 1, anywhere)
                       : place({}, source.extents[axis], depth - 1, anywhere);
        out.own_place |= at.own_place;
        e.args.push_back(std::move(at.expr));
    }
    out.expr = std::move(e);
    return out;
}

/// x(i - 1, j + 2): elements beside the own one.
Typed ExprMaker::neighbour(const Extents& extents, int depth, bool anywhere) {
    const Variable* source = extents.empty() ? nullptr : some(extents, true);
    if (!source) return element(extents, depth, anywhere);
    Expr e;
    e.form = Form::Read;
    e.edge = dice_.pick({Edge::Clamp, Edge::Clamp, Edge::Wrap, Edge::Mirror, Edge::Reflect,
                         Edge::Zero, Edge::Fill});
    e.number = dice_.below(3);
    e.args = {handle_of(source->handle)};
    for (size_t axis = 0; axis < extents.size(); ++axis) {
        Expr at = index_of(extents, static_cast<int>(axis)).expr;
        if (const int offset = dice_.below(5) - 2)
            at = apply_of(Fn::Add, {std::move(at), literal_of(offset)});
        e.args.push_back(std::move(at));
    }
    return {std::move(e), source->dtype};
}

Typed ExprMaker::reduced(const Extents& extents, int depth) {
    Expr e;
    e.form = Form::Reduce;
    e.fn = dice_.pick({Fn::Sum, Fn::Sum, Fn::Sum, Fn::Largest, Fn::Smallest, Fn::Prod, Fn::Any,
                       Fn::All, Fn::Argmin, Fn::Argmax});
    // A variable with one axis more; its other axes are these.
    Extents longer;
    for (const Variable& each : variables_) {
        if (each.own_place || each.extents.size() != extents.size() + 1) continue;
        for (size_t axis = 0; axis < each.extents.size(); ++axis) {
            Extents rest = each.extents;
            rest.erase(rest.begin() + static_cast<long>(axis));
            if (rest == extents && (longer.empty() || dice_.chance(40)))
                longer = each.extents, e.axes = {static_cast<int>(axis)};
        }
    }
    if (longer.empty()) {
        e.axes = {dice_.below(static_cast<int>(extents.size()) + 1)};
        longer = extents;
        longer.insert(longer.begin() + e.axes[0], dice_.pick({Extent{2}, Extent{3}, Extent{5}}));
    }
    Typed x = make(longer, std::min(depth - 1, 1), true);
    // Products and sums of many stay exact.
    if (e.fn == Fn::Prod && x.dtype.is_float()) e.fn = Fn::Sum;
    if (extents.empty() && dice_.chance(50)) e.axes.clear();
    e.args = {std::move(x.expr)};
    return {std::move(e), reduced_type(e.fn, x.dtype)};
}

/// The same elements elsewhere.
Typed ExprMaker::moved(const Extents& extents, int depth, bool anywhere) {
    const int rank = static_cast<int>(extents.size());
    if (rank == 0) {
        Typed out = form_of(Form::Reshape, make({Extent{1}}, depth - 1, anywhere));
        return out;
    }
    const int axis = dice_.below(rank);
    Typed out;
    switch (dice_.below(6)) {
        case 0:
            out = form_of(Form::Flip, make(extents, depth - 1, true)), out.expr.axis = axis;
            return out;
        case 1: {
            out = form_of(Form::Roll, make(extents, depth - 1, true));
            Typed by = dice_.chance(70) ? Typed{literal_of(dice_.pick({1, -1, 2, 5})), i32, true}
                                        : count(4, true);
            out.expr.args.push_back(std::move(by.expr));
            out.expr.axis = dice_.chance(60) ? axis : -1;
            return out;
        }
        case 2: {
            std::vector<int> axes;
            for (int k = 0; k < rank; ++k) axes.push_back((k + 1) % rank);
            Extents source(extents.size());
            for (size_t k = 0; k < axes.size(); ++k)
                source[static_cast<size_t>(axes[k])] = extents[k];
            out = form_of(Form::Permute, make(source, depth - 1, true)), out.expr.axes = axes;
            return out;
        }
        case 3: {  // from the same count in another shape
            Extents source = extents;
            if (rank == 2)
                std::swap(source[0], source[1]);
            else
                source.insert(source.begin() + axis, Extent{1});
            out = form_of(Form::Reshape, make(source, depth - 1, true)), out.expr.extents = extents;
            if (rank == 1 && dice_.chance(50)) out.expr.extents = {Extent{-1}};
            return out;
        }
        case 4: {
            if (extents[static_cast<size_t>(axis)].symbol || rank == 3)
                return neighbour(extents, depth, anywhere);
            Extents source = extents;
            const int64_t size = extents[static_cast<size_t>(axis)].number,
                          step = dice_.pick({1, 1, 2, -1});
            const int64_t begin = dice_.below(2), end = begin + size * std::abs(step);
            source[static_cast<size_t>(axis)].number = end + dice_.below(2);
            out = form_of(Form::Slice, make(source, depth - 1, true));
            out.expr.axis = axis, out.expr.range = {begin, end, step};
            return out;
        }
        default: {
            Extents row = extents;
            row[static_cast<size_t>(axis)] = Extent{1};
            out = form_of(Form::Expand, make(row, depth - 1, anywhere)), out.expr.extents = extents;
            return out;
        }
    }
}

/// Joins two parts along an axis whose size is a number.
Typed ExprMaker::joined_parts(const Extents& extents, int depth) {
    for (size_t axis = 0; axis < extents.size(); ++axis) {
        if (extents[axis].symbol || extents[axis].number < 2) continue;
        Expr e;
        e.axis = static_cast<int>(axis);
        DType dtype = i32;
        const bool stacked = extents[axis].number <= 3;
        e.form = stacked ? Form::Stack : Form::Concat;
        for (int64_t left = extents[axis].number; left > 0;) {
            Extents own = extents;
            if (stacked)
                own.erase(own.begin() + static_cast<long>(axis));
            else
                own[axis].number = left > 4 ? left / 2 : left;
            left -= stacked ? 1 : own[axis].number;
            Typed x = make(own, std::min(depth - 1, 1), true);
            dtype = e.args.empty() ? x.dtype : joined(dtype, x.dtype);
            e.args.push_back(std::move(x.expr));
        }
        return {std::move(e), dtype};
    }
    return leaf(extents, true);
}

Typed ExprMaker::make(const Extents& extents, int depth, bool anywhere) {
    if (depth <= 0) return leaf(extents, anywhere);
    const int kind = dice_.below(100);
    if (kind < 38) return binary(extents, depth, anywhere);
    if (kind < 44) return unary(extents, depth, anywhere);
    if (kind < 50) return bits(extents, depth, anywhere);
    if (kind < 56) return select(extents, depth, anywhere);
    if (kind < 60) return condition(extents, depth, anywhere);
    if (kind < 64) return cast_of(make(extents, depth - 1, anywhere), any_dtype());
    if (kind < 76) return neighbour(extents, depth, anywhere);
    if (kind < 82 || elements_alone_) return element(extents, depth, anywhere);
    if (kind < 88 && extents.size() < 3) return reduced(extents, depth);
    if (kind < 94) return moved(extents, depth, anywhere);
    if (kind < 96) return joined_parts(extents, depth);
    return leaf(extents, anywhere);
}

Typed ExprMaker::make_as(DType dtype, const Extents& extents, int depth, bool anywhere) {
    auto kind = [](DType t) { return t.is_bool() ? 0 : t.is_float() ? 2 : 1; };
    Typed x = make(extents, depth, anywhere);
    return kind(x.dtype) > kind(dtype) || dice_.chance(10) ? cast_of(std::move(x), dtype) : x;
}

}  // namespace firn::programs
