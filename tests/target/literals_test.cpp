// Floats as literals of GLSL come through its compiler as they are, bit by bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "compiler/target/glsl/operations.h"
#include "compiler/target/glsl/spirv.h"

namespace firn {
namespace {

/// A shader that stores each value, as its literal says.
std::string storing(const std::vector<Scalar>& values) {
    const std::string type = glsl_type(values[0].dtype);
    std::string out = "#version 460\nlayout(local_size_x = 1) in;\nlayout(set = 0, binding = 0) ";
    out += "buffer B { " + type + " b[]; };\nvoid main() {\n";
    for (size_t k = 0; k < values.size(); ++k)
        out += "    b[" + std::to_string(k) + "] = " + glsl_literal(values[k]) + ";\n";
    return out + "}\n";
}

/// The constants that the module's stores store, in order, by their bits.
std::vector<uint64_t> stored_constants(const std::vector<uint32_t>& spirv) {
    constexpr uint32_t kConstant = 43, kStore = 62;
    constexpr size_t kHeader = 5;
    std::map<uint32_t, uint64_t> constants;
    std::vector<uint64_t> out;
    for (size_t at = kHeader; at < spirv.size(); at += std::max(1u, spirv[at] >> 16)) {
        const uint32_t words = spirv[at] >> 16, op = spirv[at] & 0xffffu;
        if (op == kConstant)
            constants[spirv[at + 2]] =
                spirv[at + 3] | (words > 4 ? uint64_t{spirv[at + 4]} << 32 : 0);
        if (op == kStore && constants.contains(spirv[at + 2]))
            out.push_back(constants[spirv[at + 2]]);
    }
    return out;
}

uint64_t bits_of(const Scalar& value) {
    return value.dtype == f64 ? std::bit_cast<uint64_t>(value.f)
                              : std::bit_cast<uint32_t>(static_cast<float>(value.f));
}

void expect_kept(const std::vector<Scalar>& values) {
    const std::vector<uint64_t> got = stored_constants(glsl_to_spirv(storing(values), "literals"));
    ASSERT_EQ(got.size(), values.size());
    for (size_t k = 0; k < values.size(); ++k)
        ASSERT_EQ(got[k], bits_of(values[k])) << glsl_literal(values[k]);
}

constexpr int kLiterals = 2000;

/// Normal numbers of any size: others are written by their bits.
std::vector<Scalar> any_floats(DType dtype) {
    std::mt19937_64 bits(14);
    std::vector<Scalar> out;
    while (out.size() < kLiterals) {
        const double value = dtype == f64 ? std::bit_cast<double>(bits())
                                          : std::bit_cast<float>(static_cast<uint32_t>(bits()));
        const Scalar rounded = scalar_float(value, dtype);
        if (std::isnormal(static_cast<float>(rounded.f)) || (dtype == f64 && std::isnormal(value)))
            out.push_back(rounded);
    }
    return out;
}

TEST(FloatLiterals, KeepTheirBits) {
    for (DType dtype : {f32, f64, f16, bf16}) expect_kept(any_floats(dtype));
}

// A decimal beside the middle of two floats is rounded to a double, which may be the middle itself,
// and then to a float, which may be the other one: glslang does so.
TEST(FloatLiterals, BesideAMiddleKeepTheirBits) {
    std::mt19937 bits(15);
    std::vector<Scalar> values;
    while (values.size() < kLiterals) {
        const float low = std::bit_cast<float>(static_cast<uint32_t>(bits()) & 0x7fffffffu);
        if (!std::isnormal(low)) continue;
        const float high = std::nextafter(low, std::numeric_limits<float>::infinity());
        if (!std::isnormal(high)) continue;
        const double middle = (double{low} + double{high}) / 2;
        for (double beside : {std::nextafter(middle, 0.0), std::nextafter(middle, HUGE_VAL)})
            values.push_back(scalar_float(beside, f32));
    }
    expect_kept(values);
}

// Its shortest digits, 7.038531e-26, are nearest to it, and the double nearest to them is the
// middle between it and its neighbour. It is the only such normal float.
TEST(FloatLiterals, OfTheFloatWhoseDigitsAreRoundedTwiceKeepTheirBits) {
    for (uint32_t bits : {0x15ae43fdu, 0x95ae43fdu})
        expect_kept({scalar_float(std::bit_cast<float>(bits), f32)});
}

}  // namespace
}  // namespace firn
