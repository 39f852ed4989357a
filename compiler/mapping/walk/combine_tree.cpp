// Many terms of one reduction, combined two at a time.
#include "compiler/mapping/walk/combine_tree.h"

#include <utility>

namespace firn {

NodeId combine_tree(KernelBuilder& b, KernelOp step, DType dtype, std::vector<NodeId> terms) {
    while (terms.size() > 1) {
        std::vector<NodeId> half;
        for (size_t k = 0; k + 1 < terms.size(); k += 2)
            half.push_back(b.make(step, dtype, {terms[k], terms[k + 1]}));
        if (terms.size() % 2) half.push_back(terms.back());
        terms = std::move(half);
    }
    return terms[0];
}

}  // namespace firn
