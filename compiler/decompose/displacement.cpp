// Bounds how far a computed index may be from the position that computes it.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/decompose/reach.h"

namespace firn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostSteps = 4000;  // nodes of an index that are followed
/// No process has a wider rim.
constexpr double kMostDistance = 1 << 20;

/// position * `position` + size * `size` + something from `lo` to `hi`.
struct Form {
    double position = 0, size = 0, lo = -kInfinity, hi = kInfinity;
    bool is_number() const { return position == 0 && size == 0; }
    bool is_alike(const Form& other) const {
        return position == other.position && size == other.size;
    }
};

Form number(double lo, double hi) { return {0, 0, lo, hi}; }

double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Form scaled(const Form& form, double by) {
    const auto [lo, hi] = std::minmax({times(form.lo, by), times(form.hi, by)});
    return {form.position * by, form.size * by, lo, hi};
}

Form sum(const Form& a, const Form& b, double by) {
    const Form other = scaled(b, by);
    return {a.position + other.position, a.size + other.size, a.lo + other.lo, a.hi + other.hi};
}

Form product(const Form& a, const Form& b) {
    if (b.is_number() && b.lo == b.hi) return scaled(a, b.lo);
    if (a.is_number() && a.lo == a.hi) return scaled(b, a.lo);
    if (!a.is_number() || !b.is_number()) return {};
    const std::array<double, 4> ends{times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo),
                                     times(a.hi, b.hi)};
    const auto [lo, hi] = std::minmax_element(ends.begin(), ends.end());
    return number(*lo, *hi);
}

/// The position lies from 0 to size - 1, which bounds its distance from a number or a size.
Form smaller(const Form& a, const Form& b) {
    if (a.is_alike(b)) return {a.position, a.size, std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    const auto is_size = [](const Form& x) { return x.position == 0 && x.size == 1; };
    const auto is_position = [](const Form& x) { return x.position == 1 && x.size == 0; };
    if (is_position(a) && is_size(b)) return {1, 0, std::min(a.lo, b.lo + 1), a.hi};
    return is_position(b) && is_size(a) ? smaller(b, a) : Form();
}

Form larger(const Form& a, const Form& b) {
    if (a.is_alike(b)) return {a.position, a.size, std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    const auto is_position = [](const Form& x) { return x.position == 1 && x.size == 0; };
    if (is_position(a) && b.is_number()) return {1, 0, a.lo, std::max(a.hi, b.hi)};
    return is_position(b) && a.is_number() ? larger(b, a) : Form();
}

Form hull(const Form& a, const Form& b) {
    if (!a.is_alike(b)) return {};
    return {a.position, a.size, std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

/// A rounding by less than one to either side moves a whole position with it.
Form rounded(const Form& form, double (*round)(double)) {
    const bool whole =
        form.position == std::floor(form.position) && form.size == std::floor(form.size);
    return whole ? Form{form.position, form.size, round(form.lo), round(form.hi)} : Form();
}

class Forms {
  public:
    Forms(int axis, const std::string& symbol) : axis_(axis), symbol_(symbol) {}

    Form of(const Node& node, int axis) {
        if (++steps_ > kMostSteps) return {};
        const auto key = std::pair(&node, axis);
        if (const auto at = known_.find(key); at != known_.end()) return at->second;
        known_[key] = Form();
        return known_[key] = found(node, axis);
    }
    Form of(const Node& node) { return of(node, axis_); }

  private:
    /// `axis`: that of `node` along which the position runs, -1: along none.
    Form found(const Node& node, int axis) {
        const auto input = [&](size_t k) { return of(*node.inputs[k], axis); };
        switch (node.op) {
            case Op::Constant: {
                const Scalar& value = node.as<ConstantAttr>().value;
                const double x = value.dtype.is_float() ? value.f : static_cast<double>(value.i);
                return std::isnan(x) ? Form() : number(x, x);
            }
            case Op::SizeValue: return of_size(node.as<SizeAttr>().size);
            case Op::Index:
                if (node.as<IndexAttr>().axis == axis) return {1, 0, 0, 0};
                return number(0, kInfinity);
            case Op::Expand: {
                const Node& inner = *node.inputs[0];
                int own = axis < 0 ? -1 : axis - (node.rank() - inner.rank());
                if (own >= 0 && inner.shape[static_cast<size_t>(own)].is(1)) own = -1;
                return of(inner, std::max(own, -1));
            }
            case Op::Cast:
                if (node.inputs[0]->dtype == boolean) return number(0, 1);
                return node.dtype.is_float() || !node.inputs[0]->dtype.is_float()
                           ? input(0)
                           : truncated(input(0));
            case Op::Add: return sum(input(0), input(1), 1);
            case Op::Sub: return sum(input(0), input(1), -1);
            case Op::Neg: return scaled(input(0), -1);
            case Op::Mul: return product(input(0), input(1));
            case Op::Div: {
                const Form by = input(1);
                const bool exact = node.dtype.is_float() && by.is_number() && by.lo == by.hi;
                return exact && by.lo != 0 ? scaled(input(0), 1 / by.lo) : Form();
            }
            case Op::Min: return smaller(input(0), input(1));
            case Op::Max: return larger(input(0), input(1));
            case Op::Select:
                // A nan goes nowhere: as an index it is 0, and what it weighs is nan.
                if (node.inputs[0]->op == Op::IsNan && node.inputs[1] == node.inputs[0]->inputs[0])
                    return input(2);
                return hull(input(1), input(2));
            case Op::Ruled: return input(0);
            case Op::Floor: return rounded(input(0), std::floor);
            case Op::Ceil: return rounded(input(0), std::ceil);
            case Op::Round: return rounded(input(0), std::nearbyint);
            case Op::Trunc: return truncated(input(0));
            case Op::Frac: return number(0, 1);
            case Op::Tanh:
            case Op::Sin:
            case Op::Cos:
            case Op::Erf:
            case Op::Sign: return number(-1, 1);
            case Op::Abs: {
                const Form x = input(0);
                if (!x.is_number()) return {};
                const double low = x.lo > 0 ? x.lo : x.hi < 0 ? -x.hi : 0;
                return number(low, std::max(std::abs(x.lo), std::abs(x.hi)));
            }
            default: return {};
        }
    }

    Form of_size(const Size& size) const {
        if (size.is_constant())
            return number(static_cast<double>(size.constant()),
                          static_cast<double>(size.constant()));
        const Size rest = size - Size::symbol(symbol_);
        if (!rest.is_constant()) return number(0, kInfinity);
        const auto at = static_cast<double>(rest.constant());
        return {0, 1, at, at};
    }

    /// Towards 0, which of a position below 0 is up.
    static Form truncated(const Form& form) {
        const Form low = rounded(form, std::floor), high = rounded(form, std::ceil);
        return hull(low, high);
    }

    int axis_;
    const std::string& symbol_;
    int steps_ = 0;
    std::map<std::pair<const Node*, int>, Form> known_;
};

}  // namespace

std::optional<Reach> displacement(const Node& index, int axis, const std::string& symbol) {
    const Form form = Forms(axis, symbol).of(index);
    if (form.position != 1 || form.size != 0 || !(std::abs(form.lo) <= kMostDistance) ||
        !(std::abs(form.hi) <= kMostDistance))
        return std::nullopt;
    return Reach{static_cast<int64_t>(std::floor(form.lo)),
                 static_cast<int64_t>(std::ceil(form.hi))};
}

}  // namespace firn
