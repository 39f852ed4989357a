// Attention as products, a softmax, and masks.
#include "compiler/learning/attention.h"

#include "compiler/algorithms/matmul.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"
#include "compiler/learning/initialise.h"
#include "compiler/learning/may_equal.h"

namespace firn {

Tensor scaled_dot_product_attention(const Operand& operand, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
    LineScope at(operand.line());
    const Tensor q = operand.tensor();
    if (q.rank() < 2 || k.rank() < 2 || v.rank() < 2)
        refuse("attention: queries " + text(q.shape()) + ", keys " + text(k.shape()) +
               " and values " + text(v.shape()) + "; each is [.., length, size]");
    const Tensor size = Tensor(q.size(-1)).as(f32);
    Tensor scores = matmul(q, transpose(k, -1, -2)).as(q.dtype() == f64 ? f64 : f32) * rsqrt(size);
    std::optional<Tensor> seen = options.mask;
    if (seen && !seen->dtype().is_bool())
        refuse(std::string("attention: the mask is ") + seen->dtype().name() +
               "; it is a bool, true where a query sees a key");
    if (options.causal) {
        const Shape shape{scores.size(-2), scores.size(-1)};
        const Tensor before = index(shape, 1) <= index(shape, 0);
        seen = seen ? *seen & before : before;
    }
    // The largest score of the visible keys; 0 if there is none.
    constexpr float kLeast = -3e38f;
    const Tensor shown = seen ? select(*seen, scores, kLeast) : scores;
    const Tensor high = max(max(shown, {.axis = -1, .keep_dims = true}), -1e38f);
    Tensor terms = exp(shown - stop_gradient(high));
    if (seen) terms = select(*seen, terms, 0.0f);
    const Tensor total = sum(terms, {.axis = -1, .keep_dims = true});
    const Tensor weights = terms / select(total > 0.0f, total, 1.0f);
    return matmul(weights.as(v.dtype()), v);
}

MultiHeadAttention::MultiHeadAttention(int64_t size, int64_t heads,
                                       const MultiHeadAttentionOptions& options, SourceLine line)
    : size_(size), heads_(heads) {
    LineScope at(line);
    if (size < 1 || heads < 1 || size % heads != 0)
        refuse("MultiHeadAttention: " + std::to_string(heads) + " heads of " +
               std::to_string(size) + " elements; the heads divide them");
    in_proj_weight = add_parameter("in_proj_weight", {3 * size, size}, xavier_uniform());
    if (options.bias) in_proj_bias = add_parameter("in_proj_bias", {3 * size}, constant_init(0));
    out_proj = add("out_proj", Linear(size, size, {.bias = options.bias}));
}

Tensor MultiHeadAttention::projected(const Tensor& x, int part) const {
    const Tensor in = computed_in(*this, x), w = computed_in(*this, in_proj_weight.value());
    const Shape shape = in.shape();
    if (shape.size() != 3 || !may_equal({shape[2]}, {size_}))
        refuse("MultiHeadAttention: x is " + text(shape) + "; it is [batch, length, " +
               std::to_string(size_) + "]");
    const Size begin = part * size_, end = (part + 1) * size_;
    Tensor y = matmul(in, transpose(slice(w, {.axis = 0, .begin = begin, .end = end})));
    if (in_proj_bias.exists())
        y = y + computed_in(*this, slice(in_proj_bias.value(), {.begin = begin, .end = end}));
    return permute(reshape(y, {y.size(0), y.size(1), heads_, size_ / heads_}), {0, 2, 1, 3});
}

Tensor MultiHeadAttention::operator()(const Operand& query, const Tensor& key, const Tensor& value,
                                      const AttentionOptions& options) const {
    LineScope at(query.line());
    in_proj_weight.value();  // says where there are no parameters
    const Tensor heads = scaled_dot_product_attention(
        projected(query.tensor(), 0), projected(key, 1), projected(value, 2), options);
    const Tensor joined = permute(heads, {0, 2, 1, 3});
    return out_proj(reshape(joined, {joined.size(0), joined.size(1), size_}));
}

Tensor MultiHeadAttention::operator()(const Operand& x, const AttentionOptions& options) const {
    return (*this)(x, x.tensor(), x.tensor(), options);
}

}  // namespace firn
