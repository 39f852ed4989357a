// Sums of products whose factors several results share, such as matrix products: the registers of a
// kernel's tile are for one of them.
#pragma once
#include "compiler/schedule/kernel_needs.h"

namespace firn {

/// A sum of products of two factors, each of which stands for several products: a tile of results
/// loads it once.
bool is_shared_product(const Node& node, const SymbolFacts& symbols);

/// `node`, a product, is inlined where it is asked: the kernels there have it from now on.
void note_product(Draft& draft, const Node& node, const std::set<Ask>& asks);

/// A kernel that asks for `node`, a product, computes another product that has no factor in common
/// with it, and a kernel of its own, which costs `seconds` more, is little beside it. Several loops
/// of one kernel have smaller tiles than one loop has; those with a factor in common become one.
bool is_better_apart(const Draft& draft, const Node& node, const std::set<Ask>& asks,
                     double seconds);

/// The products that the kernel of `root` computes, beside each of which a launch is little.
std::vector<const Node*> large_products(const Draft& draft, const Node& root,
                                        const KernelNeeds& needs);
/// Some of the products of two kernels, which large_products() gives, are better apart. `hands_on`:
/// one kernel of both would have at hand what one of two reads of memory.
bool are_apart(const Draft& draft, const std::vector<const Node*>& some,
               const std::vector<const Node*>& others, bool hands_on);

}  // namespace firn
