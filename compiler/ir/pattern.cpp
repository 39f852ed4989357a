// A recursive reader, matcher and builder of patterns.
#include "compiler/ir/pattern.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "compiler/base/error.h"

namespace firn {
namespace {

class PatternReader {
  public:
    explicit PatternReader(std::string_view text) : text_(text) {}

    Pattern run() {
        Pattern out = expression();
        ensure(at_ == text_.size(), "a pattern goes on after its end");
        return out;
    }

  private:
    std::string_view word() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
        size_t begin = at_;
        while (at_ < text_.size() &&
               std::string_view(",() ").find(text_[at_]) == std::string_view::npos)
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    bool accept(char c) {
        bool found = at_ < text_.size() && text_[at_] == c;
        at_ += found;
        return found;
    }

    Pattern expression() {
        std::string_view name = word();
        ensure(!name.empty(), "a pattern has an empty part");
        Pattern out;
        if (name.size() == 1 && std::islower(static_cast<unsigned char>(name[0]))) {
            out.variable = name[0];
            return out;
        }
        if (!std::isupper(static_cast<unsigned char>(name[0]))) {
            out.kind = Pattern::Kind::Literal;
            out.literal = literal(name);
            return out;
        }
        std::optional<Op> op = find_op(name);
        ensure(op && is_elementwise(*op), "a pattern names an operation that is not elementwise");
        out.kind = Pattern::Kind::Operation;
        out.op = *op;
        ensure(accept('('), "an operation in a pattern has inputs");
        do out.inputs.push_back(expression());
        while (accept(','));
        ensure(accept(')') && static_cast<int>(out.inputs.size()) == info(*op).arity,
               "an operation in a pattern has its number of inputs");
        return out;
    }

    static double literal(std::string_view name) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        if (name == "true") return 1;
        if (name == "false") return 0;
        if (name == "inf") return kInfinity;
        if (name == "-inf") return -kInfinity;
        double value = 0;
        auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
        ensure(error == std::errc() && end == name.data() + name.size(),
               "a literal of a pattern is no number");
        return value;
    }

    std::string_view text_;
    size_t at_ = 0;
};

bool is_literal(const Node& node, double literal) {
    std::optional<Scalar> value = constant_value(node);
    if (!value) return false;
    if (value->dtype.is_float()) return *value == scalar_float(literal, value->dtype);
    if (literal != std::trunc(literal) || std::isinf(literal)) return false;
    if (value->dtype.is_bool() && literal != 0 && literal != 1) return false;
    return *value == scalar_int(static_cast<int64_t>(literal), value->dtype);
}

bool match_inputs(const Pattern& pattern, const Ref& a, const Ref& b, Bindings& bindings) {
    Bindings attempt = bindings;
    if (!match(pattern.inputs[0], a, attempt) || !match(pattern.inputs[1], b, attempt))
        return false;
    bindings = std::move(attempt);
    return true;
}

}  // namespace

Pattern parse_pattern(std::string_view text) { return PatternReader(text).run(); }

std::optional<Scalar> constant_value(const Node& node) {
    const Node& source = node.op == Op::Expand ? *node.inputs[0] : node;
    if (source.op != Op::Constant) return std::nullopt;
    return source.as<ConstantAttr>().value;
}

bool match(const Pattern& pattern, const Ref& node, Bindings& bindings) {
    switch (pattern.kind) {
        case Pattern::Kind::Literal: return is_literal(*node, pattern.literal);
        case Pattern::Kind::Variable: {
            bool constants_only = pattern.variable == 'c' || pattern.variable == 'd';
            if (constants_only && !constant_value(*node)) return false;
            Ref& bound = bindings[static_cast<size_t>(pattern.variable - 'a')];
            if (!bound) bound = node;
            return bound == node;
        }
        case Pattern::Kind::Operation: break;
    }
    if (node->op != pattern.op) return false;
    if (info(node->op).properties & kCommutative)
        return match_inputs(pattern, node->inputs[0], node->inputs[1], bindings) ||
               match_inputs(pattern, node->inputs[1], node->inputs[0], bindings);
    for (size_t k = 0; k < pattern.inputs.size(); ++k)
        if (!match(pattern.inputs[k], node->inputs[k], bindings)) return false;
    return true;
}

Ref build(const Pattern& pattern, const Bindings& bindings, const MakeElementwise& make,
          const std::function<Ref(double)>& make_literal) {
    if (pattern.kind == Pattern::Kind::Variable)
        return bindings[static_cast<size_t>(pattern.variable - 'a')];
    if (pattern.kind == Pattern::Kind::Literal) return make_literal(pattern.literal);
    std::vector<Ref> inputs;
    std::vector<bool> weak;
    for (const Pattern& input : pattern.inputs) {
        inputs.push_back(build(input, bindings, make, make_literal));
        weak.push_back(input.kind == Pattern::Kind::Literal);
    }
    return make(pattern.op, inputs, weak);
}

}  // namespace firn
