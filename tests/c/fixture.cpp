// Programs for the tests of the C interface.
#include "tests/c/fixture.h"

#include <firn/firn.h>
#include <firn/saved_programs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "compiler/program/saved_program.h"

namespace firn {
namespace {

const SaveOptions kEverywhere{.devices = {"vulkan", "vulkan-least"}, .sizes = {{}}};

/// The file of a function, read again.
template <class Function, class... Arguments>
SavedProgram saved(const Function& function, const SaveOptions& options,
                   const Arguments&... arguments) {
    const std::string path = testing::TempDir() + "firn_c_" + std::to_string(getpid()) + ".firn";
    save_program(path, function, options, arguments...);
    SavedProgram out = read_program(path);
    std::filesystem::remove(path);
    return out;
}

std::vector<std::byte> wave() {
    auto step = compile(
        [](Tensor u, Tensor v, Tensor dt) {
            for (int k = 0; k < 2; ++k) {
                auto [i, j] = indices<2>(u.shape());
                const Tensor next =
                    v + dt * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u);
                u = u + dt * next;
                v = next;
            }
            return std::tuple{u, v};
        },
        {f32("n", "m"), f32("n", "m"), f32()});
    SavedProgram program = saved(step, kEverywhere, zeros({32, 32}), zeros({32, 32}), 0.1f);
    ProgramParameter dt;
    dt.name = "dt";
    dt.arguments = {2};
    dt.value = {0.1};
    dt.min = 0;
    dt.max = 0.5;
    dt.unit = "s";
    program.parameters = {dt};
    return program_bytes(program);
}

std::vector<std::byte> endless() {
    auto grow = compile(
        [](Tensor x) {
            while_([&] { return sum(x) < 1000.0f; }, [&] { x = x + roll(x, 1); });
            return x;
        },
        {f32("n")});
    return program_bytes(saved(grow, kEverywhere, ones({8})));
}

std::vector<std::byte> counted() {
    auto count = compile(
        [](Tensor x, Tensor count) {
            for (Tensor k : loop(count)) x = x + roll(x, 1) + 0.0f * k.as(f32);
            return x;
        },
        {f32("n"), i32()});
    return program_bytes(saved(count, kEverywhere, ones({8}), 2));
}

std::vector<std::byte> doubles() {
    auto half = compile([](Tensor x) { return x / 2.0; }, {f64("n")});
    return program_bytes(saved(half, {.devices = {"vulkan"}, .sizes = {{}}}, zeros({8}, f64)));
}

std::vector<std::byte> invert(int channels) {
    const auto function = [](Tensor x) { return 1.0f - x; };
    if (channels == 1)
        return program_bytes(saved(compile(function, {f32("n", "m")}), kEverywhere, zeros({8, 8})));
    return program_bytes(
        saved(compile(function, {f32("n", "m", channels)}), kEverywhere, zeros({8, 8, channels})));
}

}  // namespace

const Files& files() {
    static const Files all = [] {
        SessionScope scope(device_session());
        return Files{wave(), endless(), counted(), doubles(), invert(4), invert(3), invert(1)};
    }();
    return all;
}

void wave_step(std::vector<float>& u, std::vector<float>& v, int n, int m, float dt) {
    const auto at = [&](const std::vector<float>& x, int i, int j) {
        return x[static_cast<size_t>(std::clamp(i, 0, n - 1) * m + std::clamp(j, 0, m - 1))];
    };
    for (int k = 0; k < 2; ++k) {
        const std::vector<float> before = u;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < m; ++j) {
                const auto here = static_cast<size_t>(i * m + j);
                v[here] += dt * (at(before, i - 1, j) + at(before, i + 1, j) +
                                 at(before, i, j - 1) + at(before, i, j + 1) - 4 * before[here]);
                u[here] += dt * v[here];
            }
    }
}

Context::Context(const firn_host& host) {
    char message[512];
    EXPECT_EQ(firn_context_create(&host, &context, message, sizeof message), FIRN_OK) << message;
}

Context::~Context() { EXPECT_OK(context, firn_context_destroy(context)); }

firn_shape shape_of(std::initializer_list<int64_t> extents) {
    firn_shape shape{};
    for (int64_t extent : extents) shape.extents[shape.rank++] = extent;
    return shape;
}

}  // namespace firn
