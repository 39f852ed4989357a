// Helpers for tests of layers.
#pragma once
#include <functional>

#include "tests/learning/learning_session.h"

namespace firn {

using Layer = std::function<Tensor(const Tensors& x)>;

/// Expects the gradients of a layer by its inputs and by all its parameters to be those of
/// differences.
inline void expect_gradients(const Module& module, const Layer& layer, const Tensors& inputs) {
    Tensors all = inputs;
    for (const NamedVariable& each : module.variables())
        all.push_back(each.variable.dtype().is_float()
                          ? tensor(each.variable.value().to_vector<float>(), each.variable.shape())
                          : each.variable.value());
    // Only floats are moved.
    Tensors moved;
    for (const Tensor& each : all)
        if (each.dtype().is_float()) moved.push_back(each);
    const GradientCheck found = check_gradients(
        [&](const Tensors& at) {
            const Tensors x(at.begin(), at.begin() + long(inputs.size()));
            const Binding bound(module.variables(), {at.begin() + long(inputs.size()), at.end()});
            return layer(x);
        },
        moved);
    EXPECT_TRUE(found) << found.where;
}

inline Floats host(const Variable& variable) { return variable.value().to_vector<float>(); }

/// Elements of a row-major array, 0 outside.
struct HostArray {
    Floats values;
    std::vector<int> shape;
    double at(const std::vector<int>& index) const {
        size_t k = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            if (index[axis] < 0 || index[axis] >= shape[axis]) return 0;
            k = k * size_t(shape[axis]) + size_t(index[axis]);
        }
        return values[k];
    }
};

}  // namespace firn
