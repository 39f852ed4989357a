// Golden files of a few small programs: kernels and their GLSL change on purpose only.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/driver/compile.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/language.h"
#include "compiler/program/saved_program.h"
#include "tests/emitting.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

struct GoldenProgram {
    const char* name;
    std::vector<ArgSpec> specs;
    Tensors (*function)(const Tensors&);
};

Tensors stencil(const Tensors& a) {
    auto [i, j] = indices<2>(a[0].shape());
    return {a[0] + a[1] * (a[0](i - 1, j) + a[0](i, j + 1))};
}
Tensors row_sums(const Tensors& a) { return {sum(a[0] * a[0], {.axis = 1})}; }
Tensors escape(const Tensors& a) {
    Tensor z = a[0], count = 0;
    for (Tensor iteration : loop(100)) {
        z = z * z + a[0];
        if_(abs(z) > 2.0f, [&] { break_(); });
        count += 1;
    }
    return {z, count};
}
/// A value that an ending iteration leaves unchanged needs no select.
Tensors escape_first(const Tensors& a) {
    Tensor z = a[0], count = 0;
    for (Tensor iteration : loop(min(a[1], 100))) {
        if_(abs(z) > 2.0f, [&] { break_(); });
        z = z * z + a[0];
        count += 1;
    }
    return {z, count};
}
/// A parameter is read before the loop that uses it.
Tensors decayed(const Tensors& a) {
    Tensor z = a[0];
    for (Tensor iteration : loop(min(a[2], 100))) z = sin(z) * a[1];
    return {z};
}

const GoldenProgram kPrograms[] = {
    {"stencil", {f32(16, 16), f32()}, stencil},
    {"stencil_symbolic", {f32("n", "m"), f32()}, stencil},
    {"row_sums", {f32(100, 37)}, row_sums},
    {"long_row_sums", {f32(64, 4100)}, row_sums},
    {"escape", {f32(64)}, escape},
    {"escape_first", {f32(64), i32()}, escape_first},
    {"decayed", {f32(64), f32(), i32()}, decayed},
};

/// Kernels without the lines, which move with this file.
std::string text_of(const GoldenProgram& golden, const DeviceProfile& profile) {
    SessionScope scope(emitting(profile));
    auto program =
        compile([&](const Tensors& args) { return golden.function(args); }, golden.specs).program();
    std::ostringstream out;
    for (const KernelInfo& kernel : program->kernels) {
        KernelCode code = *kernel.code;
        code.name.clear();
        for (KernelNode& node : code.nodes) node.lines.clear();
        out << print(code) << "---\n" << kernel.artefact.text << "===\n";
    }
    return out.str();
}

using GoldenCase = std::tuple<GoldenProgram, DeviceClass>;
class Golden : public testing::TestWithParam<GoldenCase> {};

std::string name_of(const testing::TestParamInfo<GoldenCase>& info) {
    const auto& [program, device_class] = info.param;
    return std::string(program.name) + (device_class == DeviceClass::Gpu ? "_gpu" : "");
}

TEST_P(Golden, StaysAsItIs) {
    const auto& [program, device_class] = GetParam();
    const std::string path =
        std::string(FIRN_SOURCE_DIR) + "/tests/target/golden/" + name_of({GetParam(), 0}) + ".txt";
    const std::string text =
        text_of(program, device_class == DeviceClass::Gpu ? gpu_profile() : cpu_profile());
    if (std::getenv("FIRN_WRITE_GOLDEN")) std::ofstream(path) << text;
    std::ifstream file(path);
    ASSERT_TRUE(file) << path << " is missing; FIRN_WRITE_GOLDEN=1 writes it: read what it says";
    std::stringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(text, expected.str())
        << "where the change is meant, FIRN_WRITE_GOLDEN=1 writes " << path;
}

TEST_P(Golden, IsTheSameWhenItWasSaved) {
    const auto& [golden, device_class] = GetParam();
    SessionScope scope(
        Session::interpreter(device_class == DeviceClass::Gpu ? gpu_profile() : cpu_profile()));
    std::vector<Arg> args;
    for (const ArgSpec& spec : golden.specs) {
        Shape shape;
        for (const Size& size : spec.shape) shape.push_back(size.is_constant() ? size : Size(16));
        if (shape.empty())
            args.push_back(spec.dtype == i32 ? Arg(3) : Arg(0.5f));
        else
            args.emplace_back(zeros(shape, spec.dtype));
    }
    const SavedProgram saved =
        compile([f = golden.function](const Tensors& all) { return f(all); }, golden.specs)
            .saved(args);
    const std::vector<std::byte> bytes = program_bytes(saved);
    EXPECT_TRUE(program_bytes(program_from_bytes(bytes, golden.name)) == bytes);
}

INSTANTIATE_TEST_SUITE_P(Programs, Golden,
                         testing::Combine(testing::ValuesIn(kPrograms),
                                          testing::Values(DeviceClass::CpuDriver,
                                                          DeviceClass::Gpu)),
                         name_of);

}  // namespace
}  // namespace firn
