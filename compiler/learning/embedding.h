// A table of vectors by index.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

struct EmbeddingOptions {
    /// An index outside of the table is a UserError with its place. A program that checks waits for
    /// the device at every call and changes nothing in place; without it, indices are clamped.
    bool check_indices = true;
    Initialiser init = nullptr;  // none: normal, of deviation 1
};
/// Rows of weight [count, size] at integer indices [..]: [.., size]. Its gradient adds rows that
/// meet in the order of the positions, so that two runs have the same bits.
class Embedding : public Module {
  public:
    Variable weight;
    Embedding() = default;
    Embedding(int64_t count, int64_t size, const EmbeddingOptions& options = {},
              SourceLine line = here());
    Tensor operator()(const Operand& indices) const;

  private:
    bool checks_ = true;
};

}  // namespace firn
