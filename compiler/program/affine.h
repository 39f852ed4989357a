// Sums of multiples, such as indices are.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace firn {

/// offset + the sum of coefficient * atom. The atoms are sorted and differ, no coefficient is 0.
template <class Atom, class Coefficient = int64_t, class Offset = Coefficient>
struct Affine {
    std::vector<std::pair<Atom, Coefficient>> terms;
    Offset offset{0};
};

/// a + times * b; numbers must be so small that they stay in their type.
template <class Atom, class Coefficient, class Offset>
Affine<Atom, Coefficient, Offset> plus(const Affine<Atom, Coefficient, Offset>& a,
                                       const Affine<Atom, Coefficient, Offset>& b,
                                       const std::type_identity_t<Coefficient>& times) {
    Affine<Atom, Coefficient, Offset> out{{}, a.offset + b.offset * Offset(times)};
    auto p = a.terms.begin(), q = b.terms.begin();
    while (p != a.terms.end() || q != b.terms.end()) {
        const bool left = q == b.terms.end() || (p != a.terms.end() && !(q->first < p->first));
        const bool right = p == a.terms.end() || (q != b.terms.end() && !(p->first < q->first));
        Coefficient own(0);
        if (left) own = p->second;
        if (right) own = own + times * q->second;
        if (!(own == Coefficient(0)))
            out.terms.emplace_back(left ? p->first : q->first, std::move(own));
        p += left, q += right;
    }
    return out;
}

/// times * a.
template <class Atom, class Coefficient, class Offset>
Affine<Atom, Coefficient, Offset> scaled(const Affine<Atom, Coefficient, Offset>& a,
                                         const std::type_identity_t<Coefficient>& times) {
    return plus(Affine<Atom, Coefficient, Offset>{}, a, times);
}

/// 0 where the sum does not have the atom.
template <class Atom, class Coefficient, class Offset>
Coefficient coefficient_of(const Affine<Atom, Coefficient, Offset>& a,
                           const std::type_identity_t<Atom>& atom) {
    for (const auto& [own, coefficient] : a.terms)
        if (own == atom) return coefficient;
    return Coefficient(0);
}

}  // namespace firn
