// Runs a program on plain arrays, statement by statement.
#include "tests/programs/reference.h"

#include <algorithm>

namespace firn::programs {
namespace {

Array truth(bool value) { return {boolean, {}, {{0, value}}, false}; }
bool any(const Array& x) {
    return std::any_of(x.elements.begin(), x.elements.end(),
                       [](const Number& each) { return each.i != 0; });
}
Array both(const Array& a, const Array& b) { return applied(Fn::And, {a, b}); }

class Run {
  public:
    Run(const Program& program, const std::vector<Array>& arguments, const Sizes& sizes)
        : program_(program), sizes_(sizes) {
        for (size_t k = 0; k < arguments.size(); ++k)
            values_[static_cast<int>(k)] = {arguments[k], 0};
    }

    std::vector<Array> outputs() {
        block(program_.body);
        std::vector<Array> out;
        for (const int handle : program_.outputs) out.push_back(variable(handle).value);
        return out;
    }

  private:
    struct Variable {
        Array value;
        size_t depth = 0;  // of the scope that it was made in
    };
    /// The elements that the body of an if_ or of a loop leaves out. An element is active if all
    /// three hold.
    struct Scope {
        Array condition = truth(true), active = truth(true), iteration = truth(true);
        bool loop = false;
    };

    Variable& variable(int handle) {
        const auto at = values_.find(handle);
        if (at == values_.end()) throw Unsuitable("a handle without a value");
        return at->second;
    }

    Shape concrete(const Extents& extents) const {
        Shape out;
        for (const Extent& each : extents)
            out.push_back(each.symbol ? sizes_.at(each.symbol) : each.number);
        return out;
    }

    void spend(int64_t work) {
        if ((work_ += work + 1) > 150'000) throw Unsuitable("too much work");
    }

    Array mask_below(size_t depth) const {
        Array out = truth(true);
        for (size_t k = depth; k < scopes_.size(); ++k)
            out = both(out,
                       both(scopes_[k].condition, both(scopes_[k].active, scopes_[k].iteration)));
        return out;
    }

    // --- expressions

    Array value(const Expr& e) {
        Array out = plain_value(e);
        spend(static_cast<int64_t>(out.elements.size()));
        return out;
    }

    std::vector<Array> operands(const Expr& e, size_t first = 0) {
        std::vector<Array> out;
        for (size_t k = first; k < e.args.size(); ++k) out.push_back(value(e.args[k]));
        return out;
    }

    Array reshaped(Array x, Shape shape) {
        const auto open = std::find(shape.begin(), shape.end(), -1);
        if (open != shape.end()) {
            *open = 1;
            const int64_t known = count_of(shape);
            *open = known ? count_of(x.shape) / known : 0;
        }
        if (count_of(shape) != count_of(x.shape)) throw Unsuitable("a reshape to another count");
        x.shape = shape, x.weak = false;
        return x;
    }

    Array plain_value(const Expr& e) {
        auto constant = [&](double number) {
            return [this, number, &e](const auto&) { return number_of(number, e.dtype); };
        };
        switch (e.form) {
            case Form::Literal: {
                Array out = made(e.dtype, {}, constant(e.number));
                out.weak = true;
                return out;
            }
            case Form::Handle: return variable(e.handle).value;
            case Form::Size: return {i32, {}, {{0, concrete(e.extents).at(0)}}, false};
            case Form::Index: {
                const auto axis = static_cast<size_t>(e.axis);
                return made(i32, concrete(e.extents), [&](const auto& at) {
                    return Number{0, at.at(axis)};
                });
            }
            case Form::Full: return made(e.dtype, concrete(e.extents), constant(e.number));
            case Form::Apply: return applied(e.fn, operands(e));
            case Form::Cast: return converted(value(e.args[0]), e.dtype);
            case Form::Read: return read(value(e.args[0]), operands(e, 1), e.edge, e.number);
            case Form::Reduce: return reduced(value(e.args[0]), e.fn, e.axes, e.keep_dims);
            case Form::Reshape: return reshaped(value(e.args[0]), concrete(e.extents));
            case Form::Expand: return expanded(value(e.args[0]), concrete(e.extents));
            case Form::Permute: return permuted(value(e.args[0]), e.axes);
            case Form::Flip: return flipped(value(e.args[0]), e.axis);
            case Form::Slice: return sliced(value(e.args[0]), e.axis, e.range);
            case Form::Roll: return rolled(value(e.args[0]), value(e.args[1]), e.axis);
            case Form::Concat: return concatenated(operands(e), e.axis);
            case Form::Stack: return stacked(operands(e), e.axis);
            case Form::Fresh: return truth(true);
        }
        throw Unsuitable("no form");
    }

    // --- statements

    /// Assigns to a variable: all of the value in the variable's own scope; deeper, the active
    /// elements, in the variable's type.
    void assign(int handle, Array x) {
        Variable& to = variable(handle);
        x.weak = false;
        if (to.depth < scopes_.size()) {
            auto kind = [](DType t) { return t.is_bool() ? 0 : t.is_float() ? 2 : 1; };
            if (kind(x.dtype) > kind(to.value.dtype))
                throw Unsuitable("an assignment that changes the kind");
            const Array mask = mask_below(to.depth);
            if (broadcast(broadcast(x.shape, mask.shape), to.value.shape) != to.value.shape ||
                x.shape != to.value.shape)
                throw Unsuitable("an assignment that changes the shape");
            x = applied(Fn::Select, {mask, converted(x, to.value.dtype), to.value});
        }
        to.value = std::move(x);
    }

    void store(const Statement& s) {
        Variable& to = variable(s.target);
        std::vector<Array> places;
        for (const Expr& place : s.places) places.push_back(value(place));
        Array from = value(s.value);
        const Array mask = mask_below(to.depth);
        if (s.combine == Combine::Update)
            from = applied(Fn::Add, {read(to.value, places, Edge::Clamp, 0), from});
        const bool bits =
            s.combine == Combine::And || s.combine == Combine::Or || s.combine == Combine::Xor;
        const DType dtype = to.value.dtype;
        const Combine combine = s.combine == Combine::Update ? Combine::Last : s.combine;
        if (combine != Combine::Last && ((dtype.is_bool() && !bits) || (dtype.is_float() && bits)))
            throw Unsuitable("a combining store into this type");
        spend(static_cast<int64_t>(to.value.elements.size() + from.elements.size()));
        to.value = stored(to.value, places, from, mask, combine);
    }

    void block(const std::vector<Statement>& statements) {
        std::vector<int> made_here;
        for (const Statement& s : statements) {
            if (s.kind == Kind::Declare) made_here.push_back(s.target);
            statement(s);
        }
        for (const int handle : made_here)
            if (!scopes_.empty()) values_.erase(handle);
    }

    /// Runs a body even if no element is active: that has no effect, and finds invalid programs.
    void inside(Scope scope, const std::vector<Statement>& statements) {
        scopes_.push_back(std::move(scope));
        block(statements);
        scopes_.pop_back();
    }

    void statement(const Statement& s) {
        switch (s.kind) {
            case Kind::Declare: {
                Array x = value(s.value);
                x.weak = false;
                values_[s.target] = {std::move(x), scopes_.size()};
                return;
            }
            case Kind::Assign: return assign(s.target, value(s.value));
            case Kind::Swap: {
                const Array first = variable(s.target).value;
                assign(s.target, variable(s.other).value);
                return assign(s.other, first);
            }
            case Kind::Store: return store(s);
            case Kind::If: {
                const Array test = value(s.value);
                if (!test.dtype.is_bool() || test.weak)
                    throw Unsuitable("a condition that is no bool");
                inside({.condition = test}, s.body);
                return inside({.condition = applied(Fn::Not, {test})}, s.otherwise);
            }
            case Kind::Loop: return loop(s);
            case Kind::While: return repeat(s);
            case Kind::Break: return leave(&Scope::active);
            case Kind::Continue: return leave(&Scope::iteration);
            case Kind::Kernel: return kernel(s);
            case Kind::Realize:
                if (!scopes_.empty()) throw Unsuitable("realize inside");
                variable(s.target);
                return;
        }
    }

    /// Every invocation stores its own element, and reads the values before all stores.
    void kernel(const Statement& s) {
        const Array before = variable(s.target).value;
        if (before.shape.size() != static_cast<size_t>(s.rank) || !mask_below(0).shape.empty())
            throw Unsuitable("a kernel under a condition with a shape");
        Array after = before;
        size_t element = 0;
        scopes_.push_back({});
        made(before.dtype, before.shape, [&](const std::vector<int64_t>& at) {
            for (size_t axis = 0; axis < at.size(); ++axis)
                values_[s.other + static_cast<int>(axis)] = {{i32, {}, {{0, at[axis]}}, false},
                                                             scopes_.size()};
            for (const Statement& each : s.body) statement(each);
            const Array own = converted(value(s.value), before.dtype);
            if (!own.shape.empty()) throw Unsuitable("a value that is no element");
            if (any(mask_below(0))) after.elements[element] = own.elements[0];
            ++element;
            return own.elements[0];
        });
        scopes_.pop_back();
        for (const Statement& each : s.body)
            if (each.kind == Kind::Declare) values_.erase(each.target);
        for (size_t axis = 0; axis < before.shape.size(); ++axis)
            values_.erase(s.other + static_cast<int>(axis));
        variable(s.target).value = std::move(after);
    }

    void leave(Array Scope::*flag) {
        size_t depth = scopes_.size();
        while (depth > 0 && !scopes_[depth - 1].loop) --depth;
        if (!depth) throw Unsuitable("no loop to leave");
        Array& lowered = scopes_[depth - 1].*flag;
        lowered = both(lowered, applied(Fn::Not, {mask_below(0)}));
    }

    /// One iteration; false if no element goes on; the first iteration always runs.
    bool iteration(const std::vector<Statement>& body, bool first) {
        scopes_.back().iteration = truth(true);
        const bool goes_on = any(mask_below(0));
        spend(1);
        if (goes_on || first) block(body);
        return goes_on;
    }

    int64_t bound(const Expr& e) {
        const Array x = value(e);
        if (!x.shape.empty() || !x.dtype.is_integer())
            throw Unsuitable("a bound that is no integer");
        return converted(x.elements[0], x.dtype, i32).i;
    }

    void loop(const Statement& s) {
        const int64_t begin = s.places.size() > 1 ? bound(s.places[0]) : 0;
        const int64_t end = bound(s.places[s.places.size() > 1 ? 1 : 0]);
        const int64_t step = s.places.size() > 2 ? bound(s.places[2]) : 1;
        if (step == 0) throw Unsuitable("a step of 0");
        scopes_.push_back({.loop = true});
        auto counts = [&](int64_t k) { return step > 0 ? k < end : k > end; };
        if (!counts(begin)) scopes_.back().active = truth(false);
        for (int64_t k = begin; k == begin || counts(k); k += step) {
            values_[s.target] = {{i32, {}, {{0, k}}, false}, scopes_.size()};
            if (!iteration(s.body, k == begin)) break;
        }
        values_.erase(s.target);
        scopes_.pop_back();
    }

    void repeat(const Statement& s) {
        scopes_.push_back({.loop = true});
        const int64_t most = s.max_steps.value_or(kWhileLimit);
        bool goes_on = true;
        if (most == 0) scopes_.back().active = truth(false);
        for (int64_t k = 0; k == 0 || (k < most && goes_on); ++k) {
            scopes_.back().iteration = truth(true);
            const Array test = value(s.value);
            if (!test.dtype.is_bool()) throw Unsuitable("a condition that is no bool");
            scopes_.back().active = both(scopes_.back().active, test);
            goes_on = iteration(s.body, k == 0);
        }
        scopes_.back().iteration = truth(true);
        if (!s.max_steps && any(mask_below(0))) throw Endless("a while_ goes on");
        scopes_.pop_back();
    }

    const Program& program_;
    const Sizes& sizes_;
    std::map<int, Variable> values_;
    std::vector<Scope> scopes_;
    int64_t work_ = 0;
};

}  // namespace

std::vector<Array> argument_values(const Program& program, const Sizes& sizes, size_t first) {
    std::vector<Array> out;
    for (const Argument& argument : program.arguments) {
        Shape shape;
        for (const Extent& each : argument.extents)
            shape.push_back(each.symbol ? sizes.at(each.symbol) : each.number);
        size_t k = first;
        out.push_back(made(argument.dtype, shape, [&](const auto&) {
            return number_of(argument.numbers[k++ % argument.numbers.size()], argument.dtype);
        }));
    }
    return out;
}

std::vector<Array> reference(const Program& program, const std::vector<Array>& arguments,
                             const Sizes& sizes) {
    return Run(program, arguments, sizes).outputs();
}

}  // namespace firn::programs
