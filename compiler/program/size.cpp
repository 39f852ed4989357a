// The canonical form of symbolic integers: building, adding, multiplying, comparing, evaluating.
#include "compiler/program/size.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>

#include "compiler/base/error.h"
#include "compiler/program/size_builder.h"

namespace firn {
namespace {

constexpr size_t kMostAtoms =
    4096;                      // of one size: everything about it takes time with their number
constexpr int kDeepest = 128;  // nested atoms: functions on sizes are recursive

[[noreturn]] void too_large(const std::string& what) {
    throw UserError("size: a size is made of " + what +
                    "; compute it as a tensor, or give it by the dimension of an argument");
}

void check_atoms(size_t atoms) {
    if (atoms > kMostAtoms)
        too_large("more than " + std::to_string(kMostAtoms) + " symbols, quotients and the like");
}

[[noreturn]] void overflow(const char* operation, int64_t a, int64_t b) {
    throw UserError("size: " + std::to_string(a) + " " + operation + " " + std::to_string(b) +
                    " does not fit into 64 bits; use smaller dimensions");
}

bool valid_symbol(const std::string& name) {
    if (name.empty()) return false;
    auto first = static_cast<unsigned char>(name[0]);
    if (!std::isalpha(first) && first != '_' && first != '$') return false;
    return std::all_of(name.begin() + 1, name.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_' || c == '$' || c == '.' || c == '\'';
    });
}

/// Sorts terms and merges those with equal monomials.
Size normalized(std::vector<SizeTerm> terms, int64_t constant) {
    std::stable_sort(terms.begin(), terms.end(), [](const SizeTerm& a, const SizeTerm& b) {
        return compare_monomials(a.atoms, b.atoms) < 0;
    });
    std::vector<SizeTerm> merged;
    for (SizeTerm& term : terms) {
        if (!merged.empty() && compare_monomials(merged.back().atoms, term.atoms) == 0)
            merged.back().coefficient = checked_add(merged.back().coefficient, term.coefficient);
        else
            merged.push_back(std::move(term));
    }
    std::erase_if(merged, [](const SizeTerm& term) { return term.coefficient == 0; });
    return SizeBuilder::make(std::move(merged), constant);
}

Size scaled(const Size& size, int64_t factor) {
    if (factor == 0) return 0;
    if (factor == 1) return size;
    std::vector<SizeTerm> terms = SizeBuilder::terms(size);
    for (SizeTerm& term : terms) term.coefficient = checked_mul(term.coefficient, factor);
    return SizeBuilder::make(std::move(terms),
                             checked_mul(SizeBuilder::constant_term(size), factor));
}

void collect_symbols(const Size& size, std::set<std::string>& names) {
    for (const SizeTerm& term : SizeBuilder::terms(size))
        for (const SizeAtom& atom : term.atoms) {
            if (atom.kind == SizeAtom::Kind::Symbol) {
                names.insert(atom.name);
                continue;
            }
            for (const Size& arg : atom.args) collect_symbols(arg, names);
        }
}

int64_t evaluate_atom(const SizeAtom& atom, const SizeEnv& env) {
    if (atom.kind != SizeAtom::Kind::Symbol)
        return apply(atom.kind, atom.args[0].evaluate(env), atom.args[1].evaluate(env));
    auto found = env.find(atom.name);
    if (found != env.end()) return found->second;
    std::string known;
    for (const auto& [name, value] : env) known += (known.empty() ? "" : ", ") + name;
    throw UserError("size: symbol '" + atom.name + "' has no value (known: " +
                    (known.empty() ? "none" : known) + "); use it as the dimension of an argument");
}

size_t count_atoms(const std::vector<SizeTerm>& terms) {
    size_t count = 0;
    for (const SizeTerm& term : terms)
        for (const SizeAtom& atom : term.atoms) count += static_cast<size_t>(atom.atoms);
    return count;
}

int depth_of(const std::vector<SizeTerm>& terms) {
    int depth = 0;
    for (const SizeTerm& term : terms)
        for (const SizeAtom& atom : term.atoms) depth = std::max(depth, atom.depth);
    return depth;
}

size_t combine(size_t seed, size_t value) {
    return seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
}

}  // namespace

int64_t checked_add(int64_t a, int64_t b) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) overflow("+", a, b);
    return sum;
}

int64_t checked_mul(int64_t a, int64_t b) {
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) overflow("*", a, b);
    return product;
}

const std::vector<SizeTerm>& SizeBuilder::terms(const Size& size) {
    static const std::vector<SizeTerm> none;
    return size.terms_ ? *size.terms_ : none;
}

Size SizeBuilder::make(std::vector<SizeTerm> terms, int64_t constant) {
    check_atoms(count_atoms(terms));
    Size size(constant);
    if (!terms.empty())
        size.terms_ = std::make_shared<const std::vector<SizeTerm>>(std::move(terms));
    return size;
}

Size SizeBuilder::atom(SizeAtom atom) {
    size_t inside = 0;
    atom.depth = 1;
    for (const Size& arg : atom.args) {
        inside += static_cast<size_t>(arg.atoms());
        atom.depth = std::max(atom.depth, depth_of(terms(arg)) + 1);
    }
    check_atoms(inside + 1);
    if (atom.depth > kDeepest)
        too_large("quotients, minima and the like that stand " + std::to_string(kDeepest) +
                  " deep inside one another");
    atom.atoms = static_cast<int>(inside) + 1;
    std::vector<SizeTerm> terms(1);
    terms[0].atoms.push_back(std::move(atom));
    return make(std::move(terms), 0);
}

Size SizeBuilder::atom(SizeAtom::Kind kind, const Size& a, const Size& b) {
    SizeAtom made;
    made.kind = kind;
    made.args = {a, b};
    return atom(std::move(made));
}

Size SizeBuilder::from(const SizeTerm& term) {
    if (term.atoms.empty()) return term.coefficient;
    return make({term}, 0);
}

int compare(const SizeAtom& a, const SizeAtom& b) {
    if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
    if (int order = a.name.compare(b.name)) return order;
    // Data symbols of two programs may have one name, and then differ by their largest values.
    if (a.args.size() != b.args.size()) return a.args.size() < b.args.size() ? -1 : 1;
    for (size_t k = 0; k < a.args.size(); ++k)
        if (int order = Size::compare(a.args[k], b.args[k])) return order;
    return 0;
}

int compare_monomials(const std::vector<SizeAtom>& a, const std::vector<SizeAtom>& b) {
    if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
    for (size_t k = 0; k < a.size(); ++k)
        if (int order = compare(a[k], b[k])) return order;
    return 0;
}

int Size::compare(const Size& a, const Size& b) {
    if (a.terms_ != b.terms_) {
        const auto& left = SizeBuilder::terms(a);
        const auto& right = SizeBuilder::terms(b);
        if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
        for (size_t k = 0; k < left.size(); ++k) {
            if (int order = compare_monomials(left[k].atoms, right[k].atoms)) return order;
            if (left[k].coefficient != right[k].coefficient)
                return left[k].coefficient < right[k].coefficient ? -1 : 1;
        }
    }
    return a.constant_ < b.constant_ ? -1 : a.constant_ > b.constant_;
}

Size Size::symbol(const std::string& name) {
    if (!valid_symbol(name))
        throw UserError("size: '" + name +
                        "' cannot name a dimension; begin with a letter and go on with letters, "
                        "digits or _ (a number is written without quotes)");
    SizeAtom atom;
    atom.name = name;
    return SizeBuilder::atom(std::move(atom));
}

Size Size::data(const std::string& name, const Size& most, SharedPtr<const void> source) {
    ensure(name.size() > 1 && name[0] == '?', "a data symbol begins with '?'");
    SizeAtom atom;
    atom.name = name;
    atom.args = {most};
    atom.source = std::move(source);
    return SizeBuilder::atom(std::move(atom));
}

int64_t Size::constant() const {
    if (terms_) throw InternalError("internal error: size " + text() + " is not a constant");
    return constant_;
}

Size operator+(const Size& a, const Size& b) {
    int64_t constant = checked_add(a.constant_, b.constant_);
    if (!a.terms_ || !b.terms_) {
        Size sum = a.terms_ ? a : b;
        sum.constant_ = constant;
        return sum;
    }
    // Both are sorted already.
    std::vector<SizeTerm> sum;
    sum.reserve(a.terms_->size() + b.terms_->size());
    auto left = a.terms_->begin(), right = b.terms_->begin();
    while (left != a.terms_->end() && right != b.terms_->end()) {
        const int order = compare_monomials(left->atoms, right->atoms);
        if (order != 0) {
            sum.push_back(order < 0 ? *left++ : *right++);
            continue;
        }
        const int64_t coefficient = checked_add(left->coefficient, (right++)->coefficient);
        if (coefficient != 0) sum.push_back({left->atoms, coefficient});
        ++left;
    }
    sum.insert(sum.end(), left, a.terms_->end());
    sum.insert(sum.end(), right, b.terms_->end());
    return SizeBuilder::make(std::move(sum), constant);
}

Size operator-(const Size& a, const Size& b) {
    if (!a.terms_ && !b.terms_) {
        int64_t difference;
        if (__builtin_sub_overflow(a.constant_, b.constant_, &difference))
            overflow("-", a.constant_, b.constant_);
        return difference;
    }
    return a + scaled(b, -1);
}

Size operator*(const Size& a, const Size& b) {
    if (!b.terms_) return a.terms_ ? scaled(a, b.constant_) : checked_mul(a.constant_, b.constant_);
    if (!a.terms_) return scaled(b, a.constant_);
    check_atoms(a.terms_->size() * b.terms_->size());
    std::vector<SizeTerm> terms;
    for (const SizeTerm& left : *a.terms_)
        for (const SizeTerm& right : *b.terms_) {
            SizeTerm term;
            term.coefficient = checked_mul(left.coefficient, right.coefficient);
            term.atoms.resize(left.atoms.size() + right.atoms.size());
            std::merge(left.atoms.begin(), left.atoms.end(), right.atoms.begin(), right.atoms.end(),
                       term.atoms.begin(),
                       [](const SizeAtom& x, const SizeAtom& y) { return compare(x, y) < 0; });
            terms.push_back(std::move(term));
        }
    auto append = [&](const Size& size, int64_t factor) {
        for (SizeTerm term : *size.terms_) {
            term.coefficient = checked_mul(term.coefficient, factor);
            terms.push_back(std::move(term));
        }
    };
    if (b.constant_) append(a, b.constant_);
    if (a.constant_) append(b, a.constant_);
    return normalized(std::move(terms), checked_mul(a.constant_, b.constant_));
}

int64_t Size::evaluate(const SizeEnv& env) const {
    int64_t value = constant_;
    if (!terms_) return value;
    for (const SizeTerm& term : *terms_) {
        int64_t product = term.coefficient, first = 0, second = 0;
        bool nothing = false, fits = true;
        for (const SizeAtom& atom : term.atoms) {
            const int64_t next = evaluate_atom(atom, env);
            nothing |= next == 0;
            if (!fits) continue;
            first = product, second = next;
            fits = !__builtin_mul_overflow(first, second, &product);
        }
        if (nothing) continue;  // the product of the others need not fit
        if (!fits) overflow("*", first, second);
        value = checked_add(value, product);
    }
    return value;
}

Size Size::substitute(const SizeMap& map) const {
    if (!terms_ || map.empty()) return *this;
    Size result = constant_;
    for (const SizeTerm& term : *terms_) {
        Size product = term.coefficient;
        for (const SizeAtom& atom : term.atoms) {
            if (atom.kind != SizeAtom::Kind::Symbol) {
                const Size a = atom.args[0].substitute(map), b = atom.args[1].substitute(map);
                // Unchanged parts need not be simplified again.
                const bool same = a == atom.args[0] && b == atom.args[1];
                product *= same ? SizeBuilder::atom(atom) : apply(atom.kind, a, b);
            } else {
                auto found = map.find(atom.name);
                SizeAtom kept = atom;
                for (Size& most : kept.args) most = most.substitute(map);
                product *= found != map.end() ? found->second : SizeBuilder::atom(std::move(kept));
            }
        }
        result += product;
    }
    return result;
}

std::vector<std::string> Size::symbols() const {
    std::set<std::string> names;
    collect_symbols(*this, names);
    return {names.begin(), names.end()};
}

int Size::atoms() const { return static_cast<int>(count_atoms(SizeBuilder::terms(*this))); }

size_t Size::hash() const {
    size_t seed = std::hash<int64_t>()(constant_);
    if (!terms_) return seed;
    for (const SizeTerm& term : *terms_) {
        seed = combine(seed, std::hash<int64_t>()(term.coefficient));
        for (const SizeAtom& atom : term.atoms) {
            seed = combine(seed, static_cast<size_t>(atom.kind));
            seed = combine(seed, std::hash<std::string>()(atom.name));
            for (const Size& arg : atom.args) seed = combine(seed, arg.hash());
        }
    }
    return seed;
}

bool mentions(const Size& size, const std::string& symbol) {
    const std::vector<std::string> all = size.symbols();
    return std::binary_search(all.begin(), all.end(), symbol);
}

SizeSum as_sum(const Size& size) {
    SizeSum out{SizeBuilder::constant_term(size), {}};
    for (SizeTerm term : SizeBuilder::terms(size)) {
        const int64_t coefficient = std::exchange(term.coefficient, 1);
        out.terms.emplace_back(coefficient, SizeBuilder::from(term));
    }
    return out;
}

Size element_count(const Shape& shape) {
    if (std::any_of(shape.begin(), shape.end(), [](const Size& size) { return size.is(0); }))
        return 0;
    Size count = 1;
    for (const Size& dimension : shape) count *= dimension;
    return count;
}

}  // namespace firn
