// Symbolic integers as text, and back.
#include <cctype>
#include <ostream>

#include "compiler/base/error.h"
#include "compiler/program/size_builder.h"

namespace firn {
namespace {

using Kind = SizeAtom::Kind;

constexpr int kDeepestText = 256;  // parentheses in a text, more than any size that is printed has

std::string text(const SizeAtom& atom) {
    if (atom.is_data()) return atom.name + "(" + atom.args[0].text() + ")";
    if (atom.kind == Kind::Symbol) return atom.name;
    return std::string(name(atom.kind)) + "(" + atom.args[0].text() + ", " + atom.args[1].text() +
           ")";
}

/// The term without its sign.
std::string magnitude(const SizeTerm& term) {
    std::string result = std::to_string(term.coefficient);
    if (result[0] == '-') result.erase(0, 1);
    if (result == "1" && !term.atoms.empty()) result.clear();
    for (const SizeAtom& atom : term.atoms) result += (result.empty() ? "" : "*") + text(atom);
    return result;
}

void append(std::string& sum, bool negative, const std::string& magnitude) {
    if (sum.empty())
        sum = (negative ? "-" : "") + magnitude;
    else
        sum += (negative ? " - " : " + ") + magnitude;
}

/// Recursive descent over sum, product, factor.
class Parser {
  public:
    explicit Parser(const std::string& text) : text_(text) {}

    Size parse() {
        Size result = sum();
        skip_spaces();
        if (at_ != text_.size()) fail("unexpected text");
        return result;
    }

  private:
    Size sum() {
        Size result = accept('-') ? product(-1) : product(1);
        while (true) {
            if (accept('+'))
                result += product(1);
            else if (accept('-'))
                result += product(-1);
            else
                return result;
        }
    }

    // The sign travels with the product so that the least 64-bit number can be read.
    Size product(int64_t sign) {
        if (++depth_ > kDeepestText)
            fail("parentheses stand more than " + std::to_string(kDeepestText) + " deep");
        Size result = factor(sign);
        while (accept('*')) result *= factor(1);
        --depth_;
        return result;
    }

    Size factor(int64_t sign) {
        skip_spaces();
        if (at_ == text_.size()) fail("the text ends early");
        auto next = static_cast<unsigned char>(text_[at_]);
        if (std::isdigit(next)) return number(sign);
        if (accept('(')) {
            Size inner = sum();
            expect(')');
            return Size(sign) * inner;
        }
        return Size(sign) * named();
    }

    Size number(int64_t sign) {
        int64_t value = 0;
        for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])); ++at_)
            value = checked_add(checked_mul(value, 10), sign * (text_[at_] - '0'));
        return value;
    }

    Size named() {
        size_t begin = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                      std::string("_$.'?").find(text_[at_]) != std::string::npos))
            ++at_;
        if (begin == at_) fail("a number, a name or '(' must stand here");
        std::string word = text_.substr(begin, at_ - begin);
        if (!accept('(')) return Size::symbol(word);
        Size first = sum();
        if (word[0] == '?') {
            expect(')');
            if (word.size() == 1) fail("a size that only the device knows has a name behind '?'");
            return Size::data(word, first);
        }
        expect(',');
        Size second = sum();
        expect(')');
        for (Kind kind : {Kind::FloorDiv, Kind::Mod, Kind::Min, Kind::Max})
            if (word == name(kind)) return apply(kind, first, second);
        fail("there is no function '" + word + "' (floordiv, mod, min, max)");
    }

    void skip_spaces() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    }
    bool accept(char wanted) {
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }
    void expect(char wanted) {
        if (!accept(wanted)) fail(std::string("'") + wanted + "' is missing");
    }
    [[noreturn]] void fail(const std::string& why) const {
        throw UserError("size: cannot read '" + text_ + "' at position " + std::to_string(at_) +
                        ": " + why + "; write it as in 2*n*m + floordiv(n, 4) + 1");
    }

    const std::string& text_;
    size_t at_ = 0;
    int depth_ = 0;  // of the parentheses around
};

}  // namespace

const char* name(SizeAtom::Kind kind) {
    switch (kind) {
        case Kind::Symbol: return "symbol";
        case Kind::FloorDiv: return "floordiv";
        case Kind::Mod: return "mod";
        case Kind::Min: return "min";
        case Kind::Max: return "max";
    }
    throw InternalError("internal error: unknown kind of size atom");
}

std::string Size::text() const {
    if (is_constant()) return std::to_string(constant_);
    std::string sum;
    for (const SizeTerm& term : *terms_) append(sum, term.coefficient < 0, magnitude(term));
    if (constant_ != 0) append(sum, constant_ < 0, magnitude({{}, constant_}));
    return sum;
}

Size parse_size(const std::string& text) { return Parser(text).parse(); }

std::string text(const Shape& shape) {
    std::string result = "[";
    for (size_t k = 0; k < shape.size(); ++k) result += (k ? ", " : "") + shape[k].text();
    return result + "]";
}

std::ostream& operator<<(std::ostream& out, const Size& size) { return out << size.text(); }
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << text(shape); }

}  // namespace firn
