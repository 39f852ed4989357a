// A transformer that says which character comes next.
#pragma once
#include <firn/firn.h>
#include <firn/learning.h>

#include <vector>

namespace firn::char_model {

struct ModelOptions {
    int context = 64;  // characters that are seen
    int width = 64;    // numbers of a character
    int layers = 2;
    int heads = 4;
    bool operator==(const ModelOptions&) const = default;
};

/// Attention and two layers behind it, each beside what goes through, which is normalised first.
struct Block : Module {
    Block(int64_t width, int64_t heads);
    Tensor operator()(const Tensor& x) const;

    LayerNorm before_attention, before_layers;
    MultiHeadAttention attention;
    Linear up, down;
};

/// The decoder of A. Vaswani et al., "Attention Is All You Need", 2017, normalised before its parts
/// as in A. Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.
struct Model : Module {
    Model(int64_t characters, const ModelOptions& options);
    /// Logits [batch, context, characters] of the character after each of i32 [batch, context].
    Tensor operator()(const Tensor& characters) const;

    Embedding letter, place;
    std::vector<Block> blocks;
    LayerNorm last;
    Linear answer;
};

}  // namespace firn::char_model
