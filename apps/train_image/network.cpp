// The network of places and colours.
#include "apps/train_image/network.h"

#include <numbers>

namespace firn::train_image {
namespace {

std::vector<Linear> layers(const NetworkOptions& options) {
    std::vector<Linear> out;
    for (int k = 0; k < options.depth; ++k)
        out.push_back(Linear(k == 0 ? 2 * options.features : options.width, options.width,
                             {.init = he_normal()}));
    return out;
}

}  // namespace

Network::Network(const NetworkOptions& options)
    : frequencies(add_buffer("frequencies", {2, options.features}, normal_init(options.detail))),
      hidden(add("hidden", layers(options))),
      colour(add("colour", Linear(options.width, 3))) {}

Tensor Network::operator()(const Tensor& places) const {
    const Tensor turns = matmul(places, frequencies.value()),
                 angles = turns * (2 * std::numbers::pi_v<float>);
    Tensor x = concat({sin(angles), cos(angles)}, {.axis = 1});
    for (const Linear& layer : hidden) x = relu(layer(x));
    return sigmoid(colour(x));
}

}  // namespace firn::train_image
