// A network from places to colours: Fourier features and layers after them.
#pragma once
#include <firn/firn.h>
#include <firn/learning.h>

namespace firn::train_image {

struct NetworkOptions {
    int features = 128;    // frequencies; twice as many numbers go into the first layer
    int width = 128;       // of the hidden layers
    int depth = 3;         // hidden layers
    float detail = 10.0f;  // deviation of the frequencies, in waves over the picture
    bool operator==(const NetworkOptions&) const = default;
};

/// Red, green and blue in (0, 1) at places [n, 2] in [0, 1]: [n, 3]. Places become sines and
/// cosines of random frequencies, which no optimizer changes, so that the layers find sharp edges.
/// M. Tancik et al., "Fourier Features Let Networks Learn High Frequency Functions in Low
/// Dimensional Domains", 2020.
struct Network : Module {
    explicit Network(const NetworkOptions& options = {});
    Tensor operator()(const Tensor& places) const;

    Variable frequencies;  // [2, features]
    std::vector<Linear> hidden;
    Linear colour;
};

}  // namespace firn::train_image
