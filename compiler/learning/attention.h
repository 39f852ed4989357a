// Attention: sums of values, weighted by how queries and keys fit.
#pragma once
#include <optional>

#include "compiler/learning/linear.h"
#include "compiler/learning/module.h"

namespace firn {

struct AttentionOptions {
    bool causal = false;  // a query sees the keys up to its own position alone
    /// Where it holds, a query sees a key: bools that broadcast with [batch, heads, queries, keys].
    /// A query that sees none gets 0.
    std::optional<Tensor> mask = std::nullopt;
};
/// softmax(q k^T / sqrt(size)) v, for q [.., queries, size], k [.., keys, size] and v [.., keys,
/// values]. f16 and bf16 are computed in f32. A. Vaswani et al., "Attention Is All You Need", 2017.
Tensor scaled_dot_product_attention(const Operand& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

struct MultiHeadAttentionOptions {
    bool bias = true;
};
/// Attention of `heads` parts of projected queries, keys and values, [batch, length, size] each, as
/// torch's MultiheadAttention with batch_first: in_proj_weight [3 size, size], in_proj_bias, and
/// the layer out_proj. UserError: heads that do not divide the size.
class MultiHeadAttention : public Module {
  public:
    Variable in_proj_weight, in_proj_bias;
    Linear out_proj;
    MultiHeadAttention() = default;
    MultiHeadAttention(int64_t size, int64_t heads, const MultiHeadAttentionOptions& options = {},
                       SourceLine line = here());
    Tensor operator()(const Operand& query, const Tensor& key, const Tensor& value,
                      const AttentionOptions& options = {}) const;
    /// Attention of x to itself.
    Tensor operator()(const Operand& x, const AttentionOptions& options = {}) const;

  private:
    /// Part 0, 1 or 2 of the projection of x, [batch, heads, length, size / heads].
    Tensor projected(const Tensor& x, int part) const;
    int64_t size_ = 0, heads_ = 1;
};

}  // namespace firn
