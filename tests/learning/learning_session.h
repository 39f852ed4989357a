// Helpers for tests of models.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/language.h"
#include "compiler/learning/learning.h"
#include "compiler/program/program.h"
#include "tests/frontend/counting_executor.h"
#include "tests/frontend/oracle_session.h"

namespace firn {

using Tensors = std::vector<Tensor>;

/// Numbers between low and high without a pattern.
inline Floats numbers(int64_t count, float low = -1.0f, float high = 1.0f) {
    Floats out;
    for (int64_t k = 0; k < count; ++k)
        out.push_back(low + (high - low) * float((k * 37 + 11) % 101) / 101.0f);
    return out;
}
inline Tensor some(const Shape& shape, float low = -1.0f, float high = 1.0f) {
    return tensor(numbers(element_count(shape).constant(), low, high), shape);
}

inline void expect_near(const Floats& got, const Floats& expected, double tolerance = 1e-5) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k)
        ASSERT_NEAR(got[k], expected[k], tolerance * std::max(1.0f, std::abs(expected[k])))
            << "element " << k;
}

/// All elements of all variables.
inline Floats values_of(const std::vector<NamedVariable>& variables) {
    Floats out;
    for (const NamedVariable& each : variables)
        for (float value : each.variable.value().to_vector<float>()) out.push_back(value);
    return out;
}

}  // namespace firn
