// Kernels select without branches: drivers run both arms in lanes anyway, and the compile time of
// some grows with every branch.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>

#include "compiler/language.h"
#include "compiler/program/program.h"
#include "compiler/target/glsl/spirv.h"
#include "tests/emitting.h"

namespace firn {
namespace {

constexpr uint32_t kSelectionMerge = 247, kBranchConditional = 250;
constexpr size_t kWordsBeforeCode = 5;

/// Branches but those of loops.
struct Selections {
    int all = 0, two_sided = 0;
};
Selections selections(std::span<const uint32_t> spirv) {
    Selections out;
    uint32_t merge = 0;
    for (size_t at = kWordsBeforeCode; at < spirv.size(); at += std::max(1u, spirv[at] >> 16)) {
        const uint32_t op = spirv[at] & 0xffff;
        if (op == kBranchConditional && merge) {
            ++out.all;
            out.two_sided += spirv[at + 2] != merge && spirv[at + 3] != merge;
        }
        merge = op == kSelectionMerge ? spirv[at + 1] : 0;
    }
    return out;
}

/// Counts over the program's kernels, with blocks of four from buffers and from texels.
Selections selections(bool texels, const std::function<Tensor(const Tensor&)>& function) {
    DeviceProfile profile = cpu_profile();
    profile.view_loads = texels;
    SessionScope scope(emitting(profile));
    auto f = compile([&](Tensor x) { return function(x); }, {f32(1000, 64)});
    Selections sum;
    for (const KernelInfo& kernel : f.program()->kernels) {
        const Selections found = selections(glsl_to_spirv(kernel.artefact.text, kernel.name));
        sum.all += found.all, sum.two_sided += found.two_sided;
    }
    return sum;
}

TEST(Branches, ElementsOfBlocksAreChosenWithoutOne) {
    const auto blurred = [](const Tensor& x) {
        auto [i, j] = indices<2>(x.shape());
        Tensor out = x;
        for (int k = 1; k < 5; ++k)
            out += select(i >= k, x(i - k, j), 0.0f) + select(i + k < 1000, x(i + k, j), 0.0f);
        return out;
    };
    for (const bool texels : {true, false}) EXPECT_LE(selections(texels, blurred).all, 1) << texels;
}

TEST(Branches, OfFunctionsHaveOneSide) {
    const auto all = [](const Tensor& x) {
        const Tensor k = x.as(i32), y = x + 0.5f;
        Tensor sum = sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x) + atan2(y, x);
        sum += exp(x) + exp2(x) + expm1(x) + log(x) + log2(x) + log1p(x) + pow(x, y);
        sum += sinh(x) + cosh(x) + tanh(x) + erf(x) + sqrt(x) + rsqrt(x) + frac(x) + x % y;
        sum += sign(x) + x.as(f16).as(f32) + (k / (k + 3) + k % (k - 5)).as(f32) + -x + x * 0.0f;
        return sum;
    };
    EXPECT_EQ(selections(true, all).two_sided, 0);
}

TEST(Branches, ThatChooseBetweenLoopsHaveNoElseOnACpu) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(emitting(profile));
        auto f = compile(
            [](Tensor x) {
                if_(
                    x > 1.0f,
                    [&] {
                        for (Tensor t : loop(100)) x += sin(x);
                    },
                    [&] {
                        for (Tensor t : loop(90)) x -= cos(x);
                    });
                return x;
            },
            {f32(100)});
        const std::string& glsl = f.program()->kernels.at(0).artefact.text;
        EXPECT_EQ(glsl.find("} else {") == std::string::npos,
                  profile.device_class == DeviceClass::CpuDriver);
    }
}

}  // namespace
}  // namespace firn
