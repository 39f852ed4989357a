// The transformer.
#include "apps/char_model/model.h"

namespace firn::char_model {
namespace {

std::vector<Block> blocks_of(const ModelOptions& options) {
    std::vector<Block> out;
    for (int k = 0; k < options.layers; ++k) out.emplace_back(options.width, options.heads);
    return out;
}

// Characters are known to be in the table.
Embedding table(int64_t count, int64_t width) {
    return Embedding(count, width, {.check_indices = false, .init = normal_init(0.1f)});
}

}  // namespace

Block::Block(int64_t width, int64_t heads)
    : before_attention(add("before_attention", LayerNorm({width}))),
      before_layers(add("before_layers", LayerNorm({width}))),
      attention(add("attention", MultiHeadAttention(width, heads))),
      up(add("up", Linear(width, 4 * width))),
      down(add("down", Linear(4 * width, width))) {}

Tensor Block::operator()(const Tensor& x) const {
    const Tensor seen = x + attention(before_attention(x), {.causal = true});
    return seen + down(gelu(up(before_layers(seen))));
}

Model::Model(int64_t characters, const ModelOptions& options)
    : letter(add("letter", table(characters, options.width))),
      place(add("place", table(options.context, options.width))),
      blocks(add("blocks", blocks_of(options))),
      last(add("last", LayerNorm({options.width}))),
      answer(add("answer", Linear(options.width, characters))) {}

Tensor Model::operator()(const Tensor& characters) const {
    Tensor x = letter(characters) + place.weight.value();
    for (const Block& block : blocks) x = block(x);
    return answer(last(x));
}

}  // namespace firn::char_model
