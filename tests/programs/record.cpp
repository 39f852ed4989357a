// Runs a program over Tensor handles.
#include "tests/programs/record.h"

#include <functional>
#include <utility>

#include "compiler/language.h"
#include "tests/programs/reference.h"

namespace firn::programs {
namespace {

/// The form of Firn's own sizes.
using Dimensions = std::map<char, Size>;

class Recorder {
  public:
    Recorder(const Program& program, std::vector<Tensor> arguments, Dimensions sizes, bool lazy)
        : program_(program), sizes_(std::move(sizes)), lazy_(lazy) {
        for (size_t k = 0; k < arguments.size(); ++k)
            handles_.emplace(static_cast<int>(k), arguments[k]);
    }

    std::vector<Tensor> outputs() {
        block(program_.body);
        std::vector<Tensor> out;
        for (const int handle : program_.outputs) out.push_back(at(handle));
        return out;
    }

  private:
    Tensor& at(int handle) { return handles_.at(handle); }

    firn::Shape shape(const Extents& extents) const {
        firn::Shape out;
        for (const Extent& each : extents)
            out.push_back(each.symbol ? sizes_.at(each.symbol) : Size(each.number));
        return out;
    }

    static Arg number(double value, DType dtype) {
        if (dtype.is_float()) return Arg(static_cast<float>(value));
        if (dtype.is_bool()) return Arg(value != 0);
        return Arg(static_cast<int>(value));
    }

    /// A C++ number stays one; a handle is not copied.
    Arg operand(const Expr& e) {
        if (e.form == Form::Literal) return number(e.number, e.dtype);
        if (e.form == Form::Handle) return Arg(at(e.handle));
        return Arg(value(e));
    }

    Tensor apply(const Expr& e) {
        std::vector<Arg> x;
        for (const Expr& each : e.args) x.push_back(operand(each));
        switch (e.fn) {
            case Fn::Neg: return -x[0];
            case Fn::Abs: return abs(x[0].tensor());
            case Fn::Sign: return sign(x[0].tensor());
            case Fn::Floor: return floor(x[0].tensor());
            case Fn::Not: return !x[0].tensor();
            case Fn::Gate: return floor(sigmoid(x[0].tensor()) + 0.5f);
            case Fn::Hypot: return hypot_of(x[0], x[1]);
            case Fn::BitNot: return ~x[0];
            case Fn::Add: return x[0] + x[1];
            case Fn::Sub: return x[0] - x[1];
            case Fn::Mul: return x[0] * x[1];
            case Fn::Div: return x[0] / x[1];
            case Fn::Mod: return x[0] % x[1];
            case Fn::Min: return min_of(x[0], x[1]);
            case Fn::Max: return max_of(x[0], x[1]);
            case Fn::And: return x[0] & x[1];
            case Fn::Or: return x[0] | x[1];
            case Fn::Xor: return x[0] ^ x[1];
            case Fn::ShiftLeft: return x[0] << x[1];
            case Fn::ShiftRight: return x[0] >> x[1];
            case Fn::Less: return x[0] < x[1];
            case Fn::LessEqual: return x[0] <= x[1];
            case Fn::Equal: return x[0] == x[1];
            case Fn::NotEqual: return x[0] != x[1];
            case Fn::Select: return select_of(x[0], x[1], x[2]);
            default: throw Unsuitable("no elementwise function");
        }
    }

    Tensor reduce(const Expr& e) {
        const Tensor x = value(e.args[0]);
        if (e.fn == Fn::Argmin || e.fn == Fn::Argmax) {
            ArgOptions options{.keep_dims = e.keep_dims};
            if (!e.axes.empty()) options.axis = e.axes[0];
            return e.fn == Fn::Argmin ? argmin(x, options) : argmax(x, options);
        }
        const ReduceOptions options{.axis = Axes(e.axes), .keep_dims = e.keep_dims};
        switch (e.fn) {
            case Fn::Sum: return sum(x, options);
            case Fn::Prod: return prod(x, options);
            case Fn::Smallest: return min(x, options);
            case Fn::Largest: return max(x, options);
            case Fn::Any: return any(x, options);
            default: return all(x, options);
        }
    }

    std::array<Tensor::Index, 3> indices(const std::vector<Expr>& all, size_t first) {
        std::array<Tensor::Index, 3> out;
        for (size_t k = first; k < all.size(); ++k) out[k - first] = Tensor::Index(value(all[k]));
        return out;
    }

    Tensor read(const Expr& e) {
        const Tensor x = value(e.args[0]);
        const auto [i, j, k] = indices(e.args, 1);
        switch (e.edge) {
            case Edge::Clamp: return x(i, j, k);
            case Edge::Wrap: return wrap(x)(i, j, k);
            case Edge::Mirror: return mirror(x)(i, j, k);
            case Edge::Reflect: return reflect(x)(i, j, k);
            case Edge::Zero: return zero(x)(i, j, k);
            case Edge::Fill: return fill(x, number(e.number, f32))(i, j, k);
        }
        throw Unsuitable("no edge");
    }

    Tensor value(const Expr& e) {
        auto parts = [&] {
            std::vector<Tensor> out;
            for (const Expr& each : e.args) out.push_back(value(each));
            return out;
        };
        switch (e.form) {
            case Form::Literal: return number(e.number, e.dtype).tensor();
            case Form::Handle: return at(e.handle);
            case Form::Size: return Tensor(shape(e.extents)[0]);
            case Form::Index: return index(shape(e.extents), e.axis);
            case Form::Full:
                return full(shape(e.extents), Tensor(static_cast<int>(e.number)).as(e.dtype));
            case Form::Apply: return apply(e);
            case Form::Cast: return value(e.args[0]).as(e.dtype);
            case Form::Read: return read(e);
            case Form::Reduce: return reduce(e);
            case Form::Reshape: return reshape(value(e.args[0]), shape(e.extents));
            case Form::Expand: return expand(value(e.args[0]), shape(e.extents));
            case Form::Permute: return permute(value(e.args[0]), e.axes);
            case Form::Flip: return flip(value(e.args[0]), {.axis = e.axis});
            case Form::Slice:
                return slice(value(e.args[0]), {.axis = e.axis,
                                                .begin = e.range[0],
                                                .end = Size(e.range[1]),
                                                .step = e.range[2]});
            case Form::Roll: {
                AlongOptions along;
                if (e.axis >= 0) along.axis = e.axis;
                return roll(value(e.args[0]), value(e.args[1]), along);
            }
            case Form::Concat: return concat(parts(), {.axis = e.axis});
            case Form::Stack: return stack(parts(), {.axis = e.axis});
            case Form::Fresh: return any(rand({8}) != rand({8}));
        }
        throw Unsuitable("no form");
    }

    void store(const Statement& s) {
        const Arg from = operand(s.value);
        const auto [i, j, k] = indices(s.places, 0);
        Tensor& to = at(s.target);
        switch (s.combine) {
            case Combine::Last: to(i, j, k) = from; return;
            case Combine::Update: to(i, j, k) += from; return;
            case Combine::Add: return scatter_add(to(i, j, k), from);
            case Combine::Mul: return scatter_mul(to(i, j, k), from);
            case Combine::Min: return scatter_min(to(i, j, k), from);
            case Combine::Max: return scatter_max(to(i, j, k), from);
            case Combine::And: return scatter_and(to(i, j, k), from);
            case Combine::Or: return scatter_or(to(i, j, k), from);
            case Combine::Xor: return scatter_xor(to(i, j, k), from);
        }
    }

    void block(const std::vector<Statement>& statements) {
        for (const Statement& s : statements) statement(s);
        if (&statements != &program_.body)
            for (const Statement& s : statements)
                if (s.kind == Kind::Declare) handles_.erase(s.target);
    }

    void loop(const Statement& s) {
        std::vector<Arg> bounds;
        for (const Expr& each : s.places) bounds.push_back(operand(each));
        while (bounds.size() < 3)
            bounds.insert(bounds.size() == 1 ? bounds.begin() : bounds.end(),
                          Arg(bounds.size() == 1 ? 0 : 1));
        for (Tensor iteration : firn::loop(bounds[0], bounds[1], bounds[2])) {
            handles_.emplace(s.target, iteration);
            block(s.body);
            handles_.erase(s.target);
        }
    }

    void kernel(const Statement& s) {
        const KernelOptions options{.group = s.group};
        const firn::Shape shape = at(s.target).shape();
        auto body = [&](const std::vector<Tensor>& index) {
            for (size_t axis = 0; axis < index.size(); ++axis)
                handles_.emplace(s.other + static_cast<int>(axis), index[axis]);
            for (const Statement& each : s.body) statement(each);
            const Arg own = operand(s.value);
            Tensor& to = at(s.target);
            if (s.rank == 1)
                to(index[0]) = own;
            else if (s.rank == 2)
                to(index[0], index[1]) = own;
            else
                to(index[0], index[1], index[2]) = own;
            for (const Statement& each : s.body)
                if (each.kind == Kind::Declare) handles_.erase(each.target);
            for (size_t axis = 0; axis < index.size(); ++axis)
                handles_.erase(s.other + static_cast<int>(axis));
        };
        if (s.rank == 1)
            firn::kernel(shape, options, [&](Tensor i) { body({i}); });
        else if (s.rank == 2)
            firn::kernel(shape, options, [&](Tensor i, Tensor j) { body({i, j}); });
        else
            firn::kernel(shape, options, [&](Tensor i, Tensor j, Tensor k) { body({i, j, k}); });
    }

    void statement(const Statement& s) {
        switch (s.kind) {
            case Kind::Declare:
                // A handle is copied as a user's `Tensor y = x` does.
                if (s.value.form == Form::Handle)
                    handles_.emplace(s.target, at(s.value.handle));
                else
                    handles_.emplace(s.target, value(s.value));
                return;
            case Kind::Assign:
                if (s.value.form == Form::Handle)
                    at(s.target) = at(s.value.handle);
                else
                    at(s.target) = value(s.value);
                return;
            case Kind::Swap: return std::swap(at(s.target), at(s.other));
            case Kind::Store: return store(s);
            case Kind::If:
                if (s.otherwise.empty()) return if_(value(s.value), [&] { block(s.body); });
                return if_(
                    value(s.value), [&] { block(s.body); }, [&] { block(s.otherwise); });
            case Kind::Loop: return loop(s);
            case Kind::While:
                return while_([&] { return value(s.value); }, [&] { block(s.body); },
                              {.max_steps = s.max_steps});
            case Kind::Break: return break_();
            case Kind::Continue: return continue_();
            case Kind::Kernel: return kernel(s);
            case Kind::Realize:
                if (lazy_) realize(at(s.target));
                return;
        }
    }

    const Program& program_;
    Dimensions sizes_;
    bool lazy_;
    std::map<int, Tensor> handles_;
};

// --- data in and out

Tensor tensor_of(const Array& x) {
    std::vector<std::byte> bytes(x.elements.size() * static_cast<size_t>(x.dtype.bytes()));
    for (size_t k = 0; k < x.elements.size(); ++k)
        store_scalar({x.dtype, x.elements[k].f, x.elements[k].i},
                     bytes.data() + k * static_cast<size_t>(x.dtype.bytes()));
    return tensor_from_bytes(bytes, firn::Shape(x.shape.begin(), x.shape.end()), x.dtype);
}

Array array_of(const Tensor& x) {
    Array out{x.dtype(), {}, {}, false};
    const TensorShape shape = x.shape();
    for (size_t axis = 0; axis < shape.size(); ++axis) out.shape.push_back(shape[axis]);
    if (out.dtype.is_float())
        for (const double each : x.to_vector<double>()) out.elements.push_back({each, 0});
    else if (out.dtype == u64)
        for (const uint64_t each : x.to_vector<uint64_t>())
            out.elements.push_back({0, static_cast<int64_t>(each)});
    else
        for (const int64_t each : x.to_vector<int64_t>()) out.elements.push_back({0, each});
    return out;
}

std::vector<Array> arrays_of(const std::vector<Tensor>& tensors) {
    std::vector<Array> out;
    for (const Tensor& each : tensors) out.push_back(array_of(each));
    return out;
}

// --- calls

/// The sizes of the program's symbols, as the arguments have them.
Dimensions sizes_of(const Program& program, const std::vector<Tensor>& arguments) {
    Dimensions sizes;
    for (size_t k = 0; k < arguments.size(); ++k)
        for (size_t axis = 0; axis < program.arguments[k].extents.size(); ++axis)
            if (const char symbol = program.arguments[k].extents[axis].symbol)
                sizes.emplace(symbol, Size(arguments[k].shape()[axis]));
    return sizes;
}

/// Sizes as the first call has them, and those of symbols only where `symbolic`.
std::vector<ArgSpec> specs_of(const Program& program, bool symbolic) {
    std::vector<ArgSpec> specs;
    for (const Argument& argument : program.arguments) {
        ArgSpec spec{argument.dtype, {}};
        for (const Extent& each : argument.extents)
            spec.shape.push_back(!each.symbol ? Size(each.number)
                                 : symbolic   ? Size::symbol(std::string(1, each.symbol))
                                              : Size(program.sizes.at(each.symbol)));
        specs.push_back(std::move(spec));
    }
    return specs;
}

/// A function that may take some of its arguments.
using Callee = std::function<std::vector<Tensor>(const std::vector<Arg>&)>;

Callee compiled(const Program& program, bool symbolic) {
    auto body = [&program](const std::vector<Tensor>& x) {
        return Recorder(program, x, sizes_of(program, x), false).outputs();
    };
    return [function = compile(body, specs_of(program, symbolic))](const std::vector<Arg>& x) {
        return function.call(x);
    };
}

template <size_t... K>
Callee jitted(const Program& program, std::index_sequence<K...>) {
    auto body = [&program](Repeated<K, Tensor>... each) {
        const std::vector<Tensor> x{each...};
        return Recorder(program, x, sizes_of(program, x), false).outputs();
    };
    return [function = jit(body)](const std::vector<Arg>& x) mutable { return function(x[K]...); };
}

Callee callee(const Program& program, Way way) {
    if (way == Way::Jit) switch (program.arguments.size()) {
            case 1: return jitted(program, std::make_index_sequence<1>());
            case 2: return jitted(program, std::make_index_sequence<2>());
            case 3: return jitted(program, std::make_index_sequence<3>());
            default: break;
        }
    if (way != Way::Lazy && way != Way::Frames)
        return compiled(program, way == Way::Symbolic || way == Way::Jit);
    return [&program](const std::vector<Arg>& x) {
        std::vector<Tensor> arguments;
        for (const Arg& each : x) arguments.push_back(each.tensor());
        std::vector<Tensor> outputs =
            Recorder(program, arguments, sizes_of(program, arguments), true).outputs();
        realize(outputs);
        return outputs;
    };
}

}  // namespace

std::vector<Outcome> record(const Program& program, Way way, const std::vector<Call>& calls,
                            const Session& session) {
    SessionScope scope(session);
    session.limit_while(kWhileLimit);
    const Callee function = callee(program, way);
    std::vector<Outcome> out;
    std::vector<Tensor> results;
    for (const Call& call : calls) {
        std::vector<Tensor> arguments;
        for (size_t k = 0; k < call.arguments.size(); ++k)
            arguments.push_back(call.fed[k] < 0
                                    ? tensor_of(call.arguments[k])
                                    : std::move(results[static_cast<size_t>(call.fed[k])]));
        results.clear();  // donated arguments have no other holder
        std::vector<Arg> given;
        for (size_t k = 0; k < arguments.size(); ++k)
            given.push_back(call.given[k] ? Arg(std::move(arguments[k])) : Arg(arguments[k]));
        results = function(given);
        given.clear();
        Outcome& outcome = out.emplace_back();
        outcome.outputs = arrays_of(results);
        for (size_t k = 0; k < arguments.size(); ++k)
            if (!call.given[k]) outcome.kept.push_back(array_of(arguments[k]));
    }
    return out;
}

}  // namespace firn::programs
