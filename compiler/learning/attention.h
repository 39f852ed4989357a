// Attention: sums of values, weighted by the similarity of queries and keys.
#pragma once
#include <optional>

#include "compiler/learning/linear.h"
#include "compiler/learning/module.h"

namespace firn {

/// The keys that a query attends to.
struct AttentionOptions {
    bool causal = false;  ///< a query sees the keys up to its own position alone
    /// Bools that broadcast with [batch, heads, queries, keys]; true: the query attends to the key.
    /// A query without any key gives 0.
    std::optional<Tensor> mask = std::nullopt;
};
/// softmax(q k^T / sqrt(size)) v, for q [.., queries, size], k [.., keys, size] and v [.., keys,
/// values]. f16 and bf16 are computed in f32. A. Vaswani et al., "Attention Is All You Need", 2017.
/// UserError: a rank below 2, a mask that is no bools.
///
/// Examples: after `Tensor same = ones({3, 2}), v = tensor({1.0f, 2.0f, 6.0f}, {3, 1});`
/// `scaled_dot_product_attention(ones({1, 2}), same, v)` is `{{3}}`,
/// `scaled_dot_product_attention(same, same, v, {.causal = true})` is `{{1}, {1.5}, {3}}`.
Tensor scaled_dot_product_attention(const Operand& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

/// The options of a MultiHeadAttention.
struct MultiHeadAttentionOptions {
    bool bias = true;  ///< whether all its projections have a bias
};
/// Attention of `heads` parts of projected queries, keys and values, [batch, length, size] each, as
/// torch's MultiheadAttention with batch_first: in_proj_weight [3 size, size], in_proj_bias, and
/// the layer out_proj.
///
/// Example: `MultiHeadAttention(4, 2)(ones({5, 3, 4})).shape()` is `[5, 3, 4]`.
class MultiHeadAttention : public Module {
  public:
    Variable in_proj_weight, in_proj_bias;
    Linear out_proj;
    /// Makes a layer without parameters, to be assigned later.
    MultiHeadAttention() = default;
    /// First weights are xavier_uniform (those of out_proj as Linear's), in_proj_bias is 0.
    /// UserError: heads that do not divide the size.
    MultiHeadAttention(int64_t size, int64_t heads, const MultiHeadAttentionOptions& options = {},
                       SourceLine line = here());
    /// Returns a vector for each query: [batch, queries, size]. Keys and values have one length.
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
