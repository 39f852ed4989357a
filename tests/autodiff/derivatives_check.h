// Helpers for tests of gradients: tensors of numbers, and derivatives against differences.
#pragma once
#include <gtest/gtest.h>

#include "compiler/language.h"

namespace firn {

using Tensors = std::vector<Tensor>;
using Differentiable = Callback<Tensor(const Tensors&)>;

inline std::vector<float> numbers(int64_t count, float low = -1.7f, float high = 1.9f) {
    std::vector<float> out;
    for (int64_t k = 0; k < count; ++k)
        out.push_back(low + (high - low) * float((k * 37 + 11) % 101) / 101.0f);
    return out;
}
inline Tensor some(const Shape& shape, float low = -1.7f, float high = 1.9f) {
    return tensor(numbers(element_count(shape).constant(), low, high), shape);
}

inline std::vector<float> flat(const Tensor& x) { return x.to_vector<float>(); }

/// Returns the message of a refused call; "none" if it is not refused.
inline std::string error_of(const Callback<void()>& f) {
    try {
        f();
    } catch (const UserError& error) {
        return error.what();
    }
    return "none";
}

/// f and its gradient have the derivatives that differences have.
inline void expect_derivatives(const Differentiable& f, const Tensors& xs, bool second = true) {
    const GradientCheck first = check_gradients(f, xs);
    EXPECT_TRUE(first) << first.where;
    if (!second) return;
    const auto gradient = [&](const Tensors& at) {
        Tensor y = f(at);
        Tensors all = grad(sum(y * cos(y)), at, {.allow_unused = true});
        Tensor out = 0.0f;
        for (const Tensor& each : all) out = out + sum(sin(each));
        return out;
    };
    const GradientCheck again = check_gradients(gradient, xs, {.tolerance = 1e-5});
    EXPECT_TRUE(again) << "second order: " << again.where;
}

}  // namespace firn
