// Sums of products whose factors are shared by several results, such as matrix products. The
// registers of a kernel's tile suffice for one of them.
#pragma once
#include "compiler/schedule/kernel_needs.h"

namespace firn {

/// True if the node is a sum of products of two factors each of which serves several products: a
/// tile of results loads it once.
bool is_shared_product(const Node& node, const SymbolFacts& symbols);

/// Notes that `node`, a product, is inlined: the kernels that ask for it compute it from now on.
void note_product(Draft& draft, const Node& node, const std::set<Ask>& asks);

/// True if a kernel that asks for `node`, a product, computes another product that has no factor in
/// common with it, and if a separate kernel, which costs `seconds` more, is cheap compared with
/// `node`. Several loops of one kernel have smaller tiles than one loop has; loops with a factor in
/// common become one.
bool is_better_apart(const Draft& draft, const Node& node, const std::set<Ask>& asks,
                     double seconds);

/// Returns the products that the kernel of `root` computes and that take much longer than a launch.
std::vector<const Node*> large_products(const Draft& draft, const Node& root,
                                        const KernelNeeds& needs);
/// True if some of the products of two kernels, which large_products() gives, are better computed
/// in separate kernels. `hands_on`: one kernel of both would keep in registers what one of two
/// reads from memory.
bool are_apart(const Draft& draft, const std::vector<const Node*>& some,
               const std::vector<const Node*>& others, bool hands_on);

}  // namespace firn
