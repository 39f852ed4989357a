// A reshape taken apart into blocks of axes that hold as many elements.
#include "compiler/ir/reshape_blocks.h"

#include <algorithm>

#include "compiler/program/index_limits.h"

namespace firn {

std::vector<ReshapeBlock> reshape_blocks(const Shape& out, const Shape& in) {
    // Walk both shapes from the right in blocks of equal element count; dimensions of 1 are free.
    std::vector<ReshapeBlock> blocks;
    size_t i = out.size(), j = in.size();
    while (i > 0 || j > 0) {
        if (j > 0 && in[j - 1].is(1)) {
            --j;
            continue;
        }
        if (i > 0 && out[i - 1].is(1)) {
            --i;
            continue;
        }
        size_t i0 = i, j0 = j;
        Size a(1), c(1);
        bool closed = false;
        if (i0 > 0) a = out[--i0];
        if (j0 > 0) c = in[--j0];
        while (!(closed = a == c)) {
            const bool take_out =
                i0 > 0 && (j0 == 0 || proved_less_equal(a, c) || !proved_less_equal(c, a));
            if (take_out)
                a = a * out[--i0];
            else if (j0 > 0)
                c = c * in[--j0];
            else
                break;
        }
        if (!closed) i0 = 0, j0 = 0;  // the whole rest is one block
        blocks.push_back({i0, i, j0, j, a});
        i = i0, j = j0;
    }
    return blocks;
}

bool counts_in_32_bits(const ReshapeBlock& block, const SymbolFacts& facts) {
    return block.i - block.i0 == 1 || block.j - block.j0 == 1 ||
           block.count.upper_bound(facts.largest) <= kMostIndices;
}

}  // namespace firn
