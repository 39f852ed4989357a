// Einsum by lining up axes, products and sums.
#include "compiler/algorithms/einsum.h"

#include <algorithm>
#include <cctype>

#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// Axes by name: letters, and numbers below ' ' for the axes of "...", the last of which is 1.
using Names = std::string;

struct Named {
    Tensor value;
    Names names;
};

struct Terms {
    std::vector<std::string> operands;
    std::string result;
    bool has_result = false;
};

bool contains(const Names& names, char name) { return names.find(name) != Names::npos; }

class Parser {
  public:
    Parser(const std::string& text, size_t count) : text_(text), count_(count) {}

    Terms parse() const {
        std::string plain;
        for (char c : text_)
            if (c != ' ') plain += c;
        Terms out;
        size_t arrow = plain.find("->");
        out.has_result = arrow != std::string::npos;
        if (out.has_result) out.result = plain.substr(arrow + 2);
        std::string left = plain.substr(0, arrow);
        for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
            end = left.find(',', begin);
            out.operands.push_back(
                left.substr(begin, end == std::string::npos ? end : end - begin));
        }
        if (out.operands.size() != count_)
            fail(std::to_string(count_) + " tensors are given for " +
                 std::to_string(out.operands.size()) + " operands; give as many");
        for (const std::string& operand : out.operands) check(operand);
        check(out.result);
        return out;
    }

    [[noreturn]] void fail(const std::string& why) const {
        refuse("einsum \"" + text_ + "\": " + why);
    }

  private:
    void check(const std::string& names) const {
        size_t dots = names.find("...");
        for (size_t k = 0; k < names.size(); ++k) {
            bool in_dots = dots != std::string::npos && k >= dots && k < dots + 3;
            if (!in_dots && !std::isalpha(static_cast<unsigned char>(names[k])))
                fail(std::string("'") + names[k] +
                     "' names no axis; use letters, ',' between operands, '...' once, and '->'");
        }
    }

    const std::string& text_;
    size_t count_;
};

/// The names of an operand's axes, with those of "..." counted from the right.
Names axes_of(const Parser& parser, const std::string& operand, const Shape& shape) {
    size_t dots = operand.find("..."),
           letters = operand.size() - (dots == std::string::npos ? 0 : 3);
    if (letters > shape.size() || (dots == std::string::npos && letters != shape.size()))
        parser.fail("operand \"" + operand + "\" names " + std::to_string(letters) +
                    " axes of shape " + text(shape) + "; name each axis once");
    size_t more = shape.size() - letters;
    if (more > 30) parser.fail("'...' stands for more than 30 axes");
    if (dots == std::string::npos) return operand;
    Names out = operand.substr(0, dots);
    for (size_t k = more; k > 0; --k) out += static_cast<char>(k);
    return out + operand.substr(dots + 3);
}

/// Takes the diagonal of axes that share a name; it is the last axis.
Named without_repeats(const Parser& parser, Named x) {
    for (size_t a = 0; a < x.names.size(); ++a) {
        size_t b = x.names.find(x.names[a], a + 1);
        if (b == Names::npos) continue;
        Shape shape = x.value.shape();
        if ((shape[a] - shape[b]).is_constant() && !(shape[a] == shape[b]))
            parser.fail(std::string("axis '") + x.names[a] + "' has sizes " + shape[a].text() +
                        " and " + shape[b].text() + " in shape " + text(shape) +
                        "; a diagonal needs equal ones");
        std::vector<int> order;
        Names names;
        for (size_t k = 0; k < x.names.size(); ++k)
            if (k != a && k != b) {
                order.push_back(static_cast<int>(k));
                names += x.names[k];
            }
        order.insert(order.end(), {static_cast<int>(a), static_cast<int>(b)});
        names += x.names[a];
        return without_repeats(parser, {diagonal(permute(x.value, order)), names});
    }
    return x;
}

/// x with exactly these axes in this order; those that it lacks have size 1.
Tensor lined_up(const Named& x, const Names& names) {
    std::vector<int> order;
    Shape shape, own = x.value.shape();
    for (char name : names) {
        size_t at = x.names.find(name);
        if (at != Names::npos) order.push_back(static_cast<int>(at));
        shape.push_back(at == Names::npos ? Size(1) : own[at]);
    }
    return reshape(permute(x.value, order), shape);
}

Named product(const Named& a, const Named& b) {
    Names names = a.names;
    for (char name : b.names)
        if (!contains(names, name)) names += name;
    return {lined_up(a, names) * lined_up(b, names), names};
}

/// Sums over the axes that are not needed.
Named summed(const Named& x, const Names& needed) {
    std::vector<int> axes;
    Names names;
    for (size_t k = 0; k < x.names.size(); ++k) {
        if (contains(needed, x.names[k]))
            names += x.names[k];
        else
            axes.push_back(static_cast<int>(k));
    }
    if (axes.empty()) return x;
    return {sum(x.value, {.axis = axes}), names};
}

/// The names of the result, "..." written out.
Names result_names(const Parser& parser, const Terms& terms, const std::vector<Named>& operands) {
    Names dots, once, all;
    for (const Named& x : operands) all += x.names;
    for (char name = 30; name > 0; --name)
        if (contains(all, name)) dots += name;
    if (!terms.has_result) {
        for (size_t k = 0; k < terms.operands.size(); ++k)
            for (char name : terms.operands[k])
                if (name != '.' && std::count(all.begin(), all.end(), name) == 1) once += name;
        std::sort(once.begin(), once.end());
        return dots + once;
    }
    Names out = terms.result;
    if (size_t at = out.find("..."); at != Names::npos)
        out.replace(at, 3, dots);
    else if (!dots.empty())
        parser.fail("'...' stands in an operand and not in the result");
    for (char name : out) {
        if (!contains(all, name))
            parser.fail(std::string("axis '") + name + "' of the result is in no operand");
        if (std::count(out.begin(), out.end(), name) > 1)
            parser.fail(std::string("axis '") + name + "' is twice in the result");
    }
    return out;
}

/// Two operands' sizes of one name must be equal, or 1.
void check_sizes(const Parser& parser, const std::vector<Named>& operands) {
    for (const Named& x : operands)
        for (const Named& y : operands)
            for (size_t k = 0; k < x.names.size(); ++k) {
                size_t at = y.names.find(x.names[k]);
                if (at == Names::npos) continue;
                Shape a = x.value.shape(), b = y.value.shape();
                if (a[k].is(1) || b[at].is(1) || a[k] == b[at] || !(a[k] - b[at]).is_constant())
                    continue;
                parser.fail(std::string("axis '") + x.names[k] + "' has size " + a[k].text() +
                            " in " + text(a) + " and " + b[at].text() + " in " + text(b));
            }
}

}  // namespace

Tensor einsum(const std::string& text, const std::vector<Tensor>& operands, SourceLine line) {
    LineScope at(line);
    Parser parser(text, operands.size());
    Terms terms = parser.parse();
    std::vector<Named> named;
    for (size_t k = 0; k < operands.size(); ++k)
        named.push_back({operands[k], axes_of(parser, terms.operands[k], operands[k].shape())});
    Names result = result_names(parser, terms, named);
    for (Named& x : named) x = without_repeats(parser, x);
    check_sizes(parser, named);
    auto needed_after = [&](size_t k) {
        Names names = result;
        for (size_t later = k + 1; later < named.size(); ++later) names += named[later].names;
        return names;
    };
    const DType half = operands[0].dtype();
    const bool halves = operands.size() > 1 && half.is_half() &&
                        std::all_of(operands.begin(), operands.end(),
                                    [&](const Tensor& x) { return x.dtype() == half; });
    if (halves)  // products, too, are exact in f32
        for (Named& x : named) x.value = x.value.as(f32, line);
    Named out = summed(named[0], needed_after(0));
    for (size_t k = 1; k < named.size(); ++k) out = summed(product(out, named[k]), needed_after(k));
    const Tensor lined = lined_up(out, result);
    return halves ? lined.as(half, line) : lined;
}

}  // namespace firn
