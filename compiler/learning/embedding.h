// A table of vectors by index.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

/// The first values of an Embedding, and whether it checks indices.
struct EmbeddingOptions {
    /// An index outside of the table is a UserError with its place. A program that checks waits for
    /// the device at every call and changes nothing in place; without it, indices are clamped.
    bool check_indices = true;
    Initialiser init = nullptr;  ///< none: normal, of deviation 1
};
/// Rows of weight [count, size] at integer indices [..]: [.., size]. Its gradient adds rows that
/// meet in the order of the positions, so that two runs have the same bits.
///
/// Example: after `Initialiser rows = [](const Shape&, const RandomOptions&) { return eye(3); };`
/// `Embedding table(3, 3, {.init = rows});` `table(tensor({2, 0}))` is `{{0, 0, 1}, {1, 0, 0}}`.
class Embedding : public Module {
  public:
    Variable weight;
    /// Makes a layer without parameters, to be assigned later.
    Embedding() = default;
    /// A table of `count` rows with `size` elements. UserError: one of them below 1.
    Embedding(int64_t count, int64_t size, const EmbeddingOptions& options = {},
              SourceLine line = here());
    /// The rows at the indices. UserError: indices that are no integers.
    Tensor operator()(const Operand& indices) const;

  private:
    bool checks_ = true;
};

}  // namespace firn
