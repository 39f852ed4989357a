// The inside of a Size, for the files that implement its algebra.
#pragma once
#include <functional>
#include <vector>

#include "compiler/program/size.h"
#include "compiler/program/size_env.h"

namespace firn {

class SizeBuilder {
  public:
    /// The symbolic terms, sorted: higher degree first. Empty for a constant.
    static const std::vector<SizeTerm>& terms(const Size& size);
    static int64_t constant_term(const Size& size) { return size.constant_; }
    /// `terms` sorted, without equal neighbours or zero coefficients.
    static Size make(std::vector<SizeTerm> terms, int64_t constant);
    static Size atom(SizeAtom atom);
    static Size atom(SizeAtom::Kind kind, const Size& a, const Size& b);
    /// Returns a term as a size.
    static Size from(const SizeTerm& term);
};

/// Orders by kind, then name or arguments.
int compare(const SizeAtom& a, const SizeAtom& b);
/// Orders monomials: higher degree first, then by atoms. Products keep the order.
int compare_monomials(const std::vector<SizeAtom>& a, const std::vector<SizeAtom>& b);
/// The value of an atom of two arguments; x / 0 and x % 0 are 0.
int64_t apply(SizeAtom::Kind kind, int64_t a, int64_t b);
/// The same on sizes, simplified.
Size apply(SizeAtom::Kind kind, const Size& a, const Size& b);
/// The name of an atom of two arguments in text.
const char* name(SizeAtom::Kind kind);

/// Exact arithmetic; throws UserError when the result does not fit into 64 bits.
int64_t checked_add(int64_t a, int64_t b);
int64_t checked_mul(int64_t a, int64_t b);

}  // namespace firn
