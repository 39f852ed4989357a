// Programs by the oracle and compiled: both must give what plain C++ says.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/language.h"
#include "compiler/program/executor.h"
#include "tests/host_functions.h"
#include "tests/ir/near.h"

namespace firn {

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<T>& expected, double tolerance) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) {
        const auto a = static_cast<double>(got[k]), b = static_cast<double>(expected[k]);
        ASSERT_TRUE(near(a, b, tolerance)) << "element " << k << ": " << a << " instead of " << b;
    }
}

/// The ways of evaluation that every function is tested in.
struct Way {
    const char* name;
    Session session;
};
inline std::vector<Way> ways() {
    return {{"oracle", Session::oracle()},
            {"compiled for a CPU driver", Session::interpreter(cpu_profile())},
            {"compiled for a GPU", Session::interpreter(gpu_profile())}};
}

/// The same, with exp, sin and their kin as the oracle has them.
inline std::vector<Way> exact_ways() {
    return {{"oracle", Session::oracle()},
            {"compiled for a CPU driver", with_host_functions(cpu_profile())},
            {"compiled for a GPU", with_host_functions(gpu_profile())}};
}

/// Expects `make()` to give `expected` in the oracle, and compiled for CPU drivers and for GPUs; up
/// to `tolerance` relative to numbers above 1, absolute below. nan equals nan.
template <class T, class Make>
void expect_values(const Make& make, const std::vector<T>& expected, double tolerance = 0,
                   const std::vector<Way>& all = ways()) {
    for (const Way& way : all) {
        SCOPED_TRACE(way.name);
        SessionScope scope(way.session);
        Tensor out = make();
        expect_near(out.to_vector<T>(), expected, tolerance);
    }
}

/// Expects `make()`, compiled, to give the oracle's result; without a tolerance its bits.
template <class Make>
void expect_agreement(const Make& make, double tolerance = 0) {
    std::vector<double> expected;
    {
        SessionScope scope(Session::oracle());
        Tensor out = make();
        expected = out.to_vector<double>();
    }
    expect_values(make, expected, tolerance, tolerance > 0 ? ways() : exact_ways());
}

/// The message of the UserError that `body` throws; empty when it throws none.
template <class Body>
std::string error_of(const Body& body) {
    SessionScope scope(Session::oracle());
    try {
        body();
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

/// Expects that `message` contains every part.
inline void expect_message(const std::string& message, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
        EXPECT_NE(message.find(part), std::string::npos)
            << "'" << part << "' is not in: " << message;
}

inline std::vector<float> random_floats(size_t count, uint32_t seed = 1, float low = -1,
                                        float high = 1) {
    std::mt19937 bits(seed);
    std::uniform_real_distribution<float> numbers(low, high);
    std::vector<float> out(count);
    for (float& x : out) x = numbers(bits);
    return out;
}
/// The same as a tensor.
inline Tensor random_tensor(const Shape& shape, uint32_t seed = 7) {
    return tensor(random_floats(static_cast<size_t>(element_count(shape).constant()), seed), shape);
}

inline std::vector<int> random_ints(size_t count, uint32_t seed, int low, int high) {
    std::mt19937 bits(seed);
    std::uniform_int_distribution<int> numbers(low, high);
    std::vector<int> out(count);
    for (int& x : out) x = numbers(bits);
    return out;
}

using Floats = std::vector<float>;
using Ints = std::vector<int>;

}  // namespace firn
