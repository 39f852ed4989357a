// Solves the symbols of a program from the shapes of a call, and refuses calls that do not fit.
#include <algorithm>
#include <map>

#include "compiler/base/error.h"
#include "compiler/program/program.h"

namespace firn {
namespace {

std::string text(const std::vector<int64_t>& shape) {
    std::string result = "[";
    for (size_t k = 0; k < shape.size(); ++k) result += (k ? ", " : "") + std::to_string(shape[k]);
    return result + "]";
}

class Binder {
  public:
    Binder(const Program& program, const std::vector<std::vector<int64_t>>& shapes)
        : program_(program), shapes_(shapes) {}

    SizeEnv run(const std::vector<Scalar>& scalars) {
        check_counts(scalars);
        for (size_t k = 0; k < program_.arguments.size(); ++k) {
            check_rank(k);
            if (program_.arguments[k].scalar) bind_scalar(k, scalars[k]);
        }
        for (size_t k = 0; k < program_.arguments.size(); ++k) bind_plain(k);
        for (size_t k = 0; k < program_.arguments.size(); ++k) check_shape(k);
        for (const Guard& guard : program_.guards) check(guard);
        return env_;
    }

  private:
    /// `argument 1 'v' [64, 32]`.
    std::string given(size_t k) const {
        const ArgumentInfo& info = program_.arguments[k];
        return "argument " + std::to_string(k) + (info.name.empty() ? "" : " '" + info.name + "'") +
               " " + text(shapes_[k]);
    }
    std::string declared(size_t k) const {
        return program_.arguments[k].dtype.name() + firn::text(program_.arguments[k].shape);
    }
    [[noreturn]] void fail(const std::string& why) const {
        throw UserError(program_.name + ": " + why);
    }

    void check_counts(const std::vector<Scalar>& scalars) const {
        size_t wanted = program_.arguments.size();
        if (shapes_.size() != wanted)
            fail("takes " + std::to_string(wanted) + " arguments and was given " +
                 std::to_string(shapes_.size()) + "; give one value for each");
        ensure(scalars.size() == wanted, "a call has another number of scalars than of arguments");
    }

    void check_rank(size_t k) const {
        const ArgumentInfo& info = program_.arguments[k];
        if (shapes_[k].size() != info.shape.size())
            fail(given(k) + " has " + std::to_string(shapes_[k].size()) +
                 " dimensions and is declared as " + declared(k) + " with " +
                 std::to_string(info.shape.size()) +
                 (info.scalar ? "; give a plain value" : "; reshape it"));
        for (int64_t dimension : shapes_[k])
            if (dimension < 0 || dimension > INT32_MAX)
                fail(given(k) + " has a dimension of " + std::to_string(dimension) +
                     "; a dimension is from 0 to 2147483647");
    }

    void bind_scalar(size_t k, const Scalar& value) {
        const ArgumentInfo& info = program_.arguments[k];
        if (value.dtype != info.dtype)
            fail("argument " + std::to_string(k) +
                 (info.name.empty() ? "" : " '" + info.name + "'") + " is a value of type " +
                 value.dtype.name() + " and is declared as " + info.dtype.name() +
                 "; convert it before the call");
        if (info.dtype == i32) env_[scalar_symbol(static_cast<int>(k))] = value.i;
    }

    void bind_plain(size_t k) {
        const Shape& shape = program_.arguments[k].shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            std::string symbol = plain_symbol(shape[axis]);
            if (symbol.empty()) continue;
            auto [entry, fresh] = env_.try_emplace(symbol, shapes_[k][axis]);
            if (fresh) {
                source_[symbol] = k;
            } else if (entry->second != shapes_[k][axis]) {
                size_t first = source_[symbol];
                fail("size '" + symbol + "' is " + std::to_string(entry->second) + " by " +
                     given(first) + " and " + std::to_string(shapes_[k][axis]) + " by " + given(k) +
                     ", declared as " + declared(first) + " and " + declared(k) +
                     "; give both the same size");
            }
        }
    }

    static std::string plain_symbol(const Size& size) {
        std::vector<std::string> symbols = size.symbols();
        if (symbols.size() != 1 || !(size == Size::symbol(symbols[0]))) return {};
        return symbols[0];
    }

    void check_shape(size_t k) const {
        const Shape& shape = program_.arguments[k].shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            for (const std::string& symbol : shape[axis].symbols())
                if (!env_.contains(symbol))
                    fail("size '" + symbol + "' of " + given(k) + ", declared as " + declared(k) +
                         ", cannot be found: no argument has it as a dimension by itself; add one");
            int64_t wanted = shape[axis].evaluate(env_);
            if (wanted == shapes_[k][axis]) continue;
            std::string origin;
            for (const std::string& symbol : shape[axis].symbols())
                if (auto found = source_.find(symbol); found != source_.end())
                    origin += (origin.empty() ? " (" : ", ") + symbol + " = " +
                              std::to_string(env_.at(symbol)) + " by " + given(found->second);
            if (!origin.empty()) origin += ")";
            fail(given(k) + " does not fit " + declared(k) + ": dimension " + std::to_string(axis) +
                 " is " + std::to_string(shapes_[k][axis]) + " and must be " +
                 std::to_string(wanted) + origin + "; give it that size");
        }
    }

    void check(const Guard& guard) const {
        int64_t left = guard.left.evaluate(env_), right = guard.right.evaluate(env_);
        if (left == right) return;
        std::string origin;
        for (const auto& [symbol, k] : source_)
            origin += (origin.empty() ? "" : ", ") + symbol + " = " +
                      std::to_string(env_.at(symbol)) + " by " + given(k);
        fail(guard.message + ": " + guard.left.text() + " is " + std::to_string(left) + " and " +
             guard.right.text() + " is " + std::to_string(right) +
             (origin.empty() ? "" : " with " + origin) + "; give sizes that make them equal");
    }

    const Program& program_;
    const std::vector<std::vector<int64_t>>& shapes_;
    SizeEnv env_;
    std::map<std::string, size_t> source_;  // the argument that bound a symbol
};

}  // namespace

SizeEnv bind_symbols(const Program& program, const std::vector<std::vector<int64_t>>& shapes,
                     const std::vector<Scalar>& scalars) {
    return Binder(program, shapes).run(scalars);
}

bool binds(const Program& program, const SizeEnv& symbols) {
    return std::all_of(program.assumed.begin(), program.assumed.end(),
                       [&](const AssumedSize& a) { return a.size.evaluate(symbols) <= a.most; });
}

}  // namespace firn
