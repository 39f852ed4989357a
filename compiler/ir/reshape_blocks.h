// A reshape taken apart into blocks of axes that hold as many elements.
#pragma once
#include <cstddef>
#include <vector>

#include "compiler/program/size_env.h"

namespace firn {

/// Axes [i0, i) of a reshaped tensor have as many elements as axes [j0, j) of the tensor.
struct ReshapeBlock {
    size_t i0, i, j0, j;
    Size count;
};
/// Blocks of axes that a reshape takes apart on their own, as small as the sizes show, from the
/// last on. Axes of 1 are in none where they can be left out.
std::vector<ReshapeBlock> reshape_blocks(const Shape& out, const Shape& in);
/// Positions in the block are counted with 32 bits: it is an axis of one of the two, or proved to
/// be small.
bool counts_in_32_bits(const ReshapeBlock& block, const SymbolFacts& facts);
}  // namespace firn
