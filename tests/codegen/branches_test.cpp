// What kernels choose between they choose without branches: drivers run both arms in lanes anyway,
// and the time that some take to compile grows with every branch.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>

#include "compiler/codegen/spirv.h"
#include "compiler/frontend/frontend.h"
#include "compiler/program/program.h"

namespace firn {
namespace {

constexpr uint32_t kSelectionMerge = 247, kWordsBeforeCode = 5;

/// Branches but those of loops.
int selections(std::span<const uint32_t> spirv) {
    int count = 0;
    for (size_t at = kWordsBeforeCode; at < spirv.size(); at += std::max(1u, spirv[at] >> 16))
        count += (spirv[at] & 0xffff) == kSelectionMerge;
    return count;
}

/// Of the program's kernels together, where blocks of four come from buffers and from texels.
int selections(bool texels, const std::function<Tensor(const Tensor&)>& function) {
    DeviceProfile profile = cpu_profile();
    profile.texel_loads = texels;
    SessionScope scope(Session::interpreter(profile));
    auto f = compile([&](Tensor x) { return function(x); }, {f32(1000, 64)});
    int count = 0;
    for (const KernelInfo& kernel : f.program()->kernels)
        count += selections(glsl_to_spirv(kernel.glsl, kernel.name));
    return count;
}

TEST(Branches, ElementsOfBlocksAreChosenWithoutOne) {
    const auto blurred = [](const Tensor& x) {
        auto [i, j] = indices<2>(x.shape());
        Tensor out = x;
        for (int k = 1; k < 5; ++k)
            out += select(i >= k, x(i - k, j), 0.0f) + select(i + k < 1000, x(i + k, j), 0.0f);
        return out;
    };
    for (const bool texels : {true, false}) EXPECT_LE(selections(texels, blurred), 1) << texels;
}

TEST(Branches, ThatChooseBetweenLoopsHaveNoElseOnACpu) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(Session::interpreter(profile));
        auto f = compile(
            [](Tensor x) {
                if_(
                    x > 1.0f, [&] { for (Tensor t : loop(100)) x += sin(x); },
                    [&] { for (Tensor t : loop(90)) x -= cos(x); });
                return x;
            },
            {f32(100)});
        const std::string& glsl = f.program()->kernels.at(0).glsl;
        EXPECT_EQ(glsl.find("} else {") == std::string::npos,
                  profile.device_class == DeviceClass::Cpu);
    }
}

}  // namespace
}  // namespace firn
