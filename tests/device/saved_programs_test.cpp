// Programs that were saved and read give the same bits as those that were compiled here.
#include "engine/firn/saved_programs.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/cpu_session.h"
#include "compiler/program/make_call.h"
#include "compiler/program/walk_steps.h"
#include "engine/firn/device_session.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/check_device.h"
#include "engine/gpu/commands.h"
#include "engine/runtime/record.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/program_parameters.h"
#include "tests/device_programs/saving_executor.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

void expect_close(const std::vector<float>& got, const std::vector<float>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t k = 0; k < got.size(); ++k)
        ASSERT_NEAR(got[k], wanted[k], 1e-5f * std::max(1.0f, std::abs(wanted[k]))) << k;
}

/// A device with validation; skips where there is none.
class SavedOnDevice : public ::testing::Test {
  protected:
    void SetUp() override {
        try {
            session_ = std::make_unique<Session>(device_session({.validation = true}));
        } catch (const DeviceError& error) {
            GTEST_SKIP() << error.what();
        }
        session_->compile_in_background(false);  // which program serves a call is no matter of time
        scope_ = std::make_unique<SessionScope>(*session_);
        path_ = ::testing::TempDir() + "firn_saved_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".firn";
    }
    void TearDown() override {
        scope_.reset();
        if (!session_) return;
        EXPECT_EQ(validation_report(*session_), "");
        std::filesystem::remove(path_);
    }
    Executor& executor() { return session_->executor(); }

    std::shared_ptr<Memory> upload(const Tensor& x) {
        const std::vector<std::byte> data = bytes_of(x, here());
        auto memory = executor().allocate((data.size() + 15) / 16 * 16, "argument");
        executor().write(*memory, 0, data);
        return memory;
    }
    template <class T>
    std::vector<T> values(const Memory& memory, size_t count) {
        std::vector<T> out(count);
        executor().read(memory, 0, std::as_writable_bytes(std::span(out)));
        return out;
    }
    /// The results of the saved program with these tensors, and its own numbers.
    Call run(const SavedProgram& saved, const std::vector<Tensor>& tensors,
             std::vector<Scalar> scalars = {}) {
        std::vector<std::shared_ptr<Memory>> memory;
        std::vector<std::vector<int64_t>> shapes;
        size_t next = 0;
        for (const ArgumentInfo& argument : saved.program->arguments) {
            memory.push_back(argument.scalar ? nullptr : upload(tensors.at(next)));
            shapes.emplace_back();
            if (argument.scalar) continue;
            for (const Size& size : tensors[next++].shape())
                shapes.back().push_back(size.constant());
        }
        if (scalars.empty()) scalars = saved.scalars;
        Call call = make_call(executor(), *saved.program, memory, shapes, scalars);
        executor().run(saved.program, call);
        return call;
    }

    /// The call again as a host makes it, in a command buffer of its own; its results are new.
    void record_again(const SavedProgram& saved, Call& call) {
        auto& vulkan = static_cast<VulkanExecutor&>(executor());
        LoadedProgram loaded(vulkan.shared_device(), *saved.program);
        const auto plan = loaded.plan(*saved.program, call.symbols);
        const auto range = [](const std::shared_ptr<Memory>& memory) {
            return memory ? static_cast<Buffer&>(*memory).range() : BufferRange();
        };
        Bindings bindings;
        for (const auto& memory : call.arguments) bindings.arguments.push_back(range(memory));
        for (auto& memory : call.results) {
            memory = executor().allocate(memory->bytes(), "recorded");
            bindings.results.push_back(range(memory));
        }
        const auto scratch = executor().allocate(plan->scratch_bytes, "scratch");
        bindings.scratch = range(scratch);
        const auto slots = expected_result_slots(*saved.program, call.symbols);
        PreparedCall prepared(loaded, *saved.program, plan, bindings, slots);
        const TimelinePoint point = submit_once(vulkan.device(), [&](VkCommandBuffer commands) {
            record(prepared, commands, call.scalars);
        });
        for (const auto& memory : call.results) static_cast<Buffer&>(*memory).used_at(point, true);
        vulkan.device().wait(point);
    }

    std::unique_ptr<Session> session_;
    std::unique_ptr<SessionScope> scope_;
    std::string path_;
};

auto wave() {
    return compile(
        [](Tensor u, Tensor v, Tensor dt) {
            auto [i, j] = indices<2>(u.shape());
            Tensor laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
            Tensor v_next = v + dt * laplacian;
            return std::tuple{u + dt * v_next, v_next};
        },
        {f32("n", "m"), f32("n", "m"), f32()});
}

TEST_F(SavedOnDevice, OneFileServesAllSizesAndValues) {
    Gui panel;
    Param<float> dt{panel, "dt", 0.25f, {.min = 0, .max = 0.5, .unit = "s", .help = "time step"}};
    auto step = wave();
    save_program(path_, step, zeros({8, 8}), zeros({8, 8}), dt);
    const SavedProgram saved = read_program(path_);
    EXPECT_EQ(saved.shapes[0], (std::vector<int64_t>{8, 8}));
    EXPECT_EQ(saved.program->arguments[2].name, "dt");
    Gui other;
    add_parameters(other, saved);
    session_->specialise(false);
    for (const char* value : {"0.25", "0.125"})
        for (int n : {8, 33}) {
            dt = std::stof(value);
            other.parameters().set("dt", value);
            const Tensor u = rand({n, 20}), v = rand({n, 20}, {.stream = 1});
            auto [u_next, v_next] = step(u, v, dt);
            Call call = run(saved, {u, v}, scalars_now(saved, other.parameters()));
            const auto count = static_cast<size_t>(n) * 20;
            for (const bool recorded : {false, true}) {
                if (recorded) record_again(saved, call);
                EXPECT_EQ(values<float>(*call.results[0], count), u_next.to_vector<float>()) << n;
                EXPECT_EQ(values<float>(*call.results[1], count), v_next.to_vector<float>()) << n;
            }
        }
}

TEST_F(SavedOnDevice, FilesOfSessionsOfNativeCodeAreForVulkan) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    {
        SessionScope native(device_session({.device = "cpu"}));
        const Tensor captured = arange(4).as(f32);
        auto twice = compile([&](Tensor x) { return 2.0f * x + captured(3); }, {f32("n")});
        save_program(path_, twice, zeros({4}));
    }
    const SavedProgram saved = read_program(path_);
    check_device(*saved.program, executor().profile());
    const Tensor x = arange(3000).as(f32);
    const Call call = run(saved, {x});
    EXPECT_EQ(values<float>(*call.results[0], 3000), (2.0f * x + 3.0f).to_vector<float>());
}

TEST_F(SavedOnDevice, LoopsThatRotateBuffers) {
    auto steps = compile(
        [](Tensor x, Tensor n) {
            Tensor before = x;
            for (Tensor t : loop(n)) {
                auto [i] = indices<1>(x.shape());
                Tensor next = 0.5f * (x(i - 1) + x(i + 1)) - 0.1f * before + 0.01f * t.as(f32);
                before = x;
                x = next;
            }
            return std::tuple{x, before};
        },
        {f32("n"), i32()});
    save_program(path_, steps, zeros({4}), 5);
    const SavedProgram saved = read_program(path_);
    session_->specialise(false);
    for (int n : {0, 1, 2, 5, 9}) {
        const Tensor x = rand({3000});
        auto [now, before] = steps(x, n);
        const Call call = run(saved, {x}, {Scalar(), scalar_int(n)});
        EXPECT_EQ(values<float>(*call.results[0], 3000), now.to_vector<float>()) << n;
        EXPECT_EQ(values<float>(*call.results[1], 3000), before.to_vector<float>()) << n;
    }
}

// In this process the host computes the bound from the recording; with a file it cannot.
TEST_F(SavedOnDevice, BoundsOfLoopsThatNumbersDecide) {
    auto blur = compile(
        [](Tensor x, Tensor sigma) {
            Tensor radius = ceil(2.5f * sigma).as(i32), sum = 0.0f * x;
            auto [i] = indices<1>(x.shape());
            for (Tensor k : loop(-radius, radius + 1)) sum += x(i + k);
            return sum / (2.0f * radius.as(f32) + 1.0f);
        },
        {f32("n"), f32()});
    save_program(path_, blur, zeros({4}), 1.0f);
    const SavedProgram saved = read_program(path_);
    const Tensor x = arange(1000).as(f32);
    for (float sigma : {0.0f, 0.7f, 3.0f, 8.0f}) {
        const Call call = run(saved, {x}, {Scalar(), scalar_float(sigma)});
        expect_close(values<float>(*call.results[0], 1000), blur(x, sigma).to_vector<float>());
    }
}

TEST_F(SavedOnDevice, CapturedTensorsAreInTheFile) {
    const Tensor weights = rand({64, 32}), bias = tensor({1.0f, 2.0f});
    auto layer = compile(
        [&](Tensor x, Tensor k) {
            return matmul(x, weights) * (k + 1.0f) / (sqrt(abs(k)) + 3.0f) + sum(bias);
        },
        {f32("n", 64), f32()});
    save_program(path_, layer, zeros({2, 64}), 2.0f);
    const SavedProgram saved = read_program(path_);
    EXPECT_EQ(saved.program->arguments.size(), 2u);
    session_->specialise(false);
    const Tensor x = rand({7, 64});
    const std::vector<float> here_made = layer(x, 2.0f).to_vector<float>();
    expect_close(values<float>(*run(saved, {x}).results[0], 7 * 32), here_made);
}

TEST_F(SavedOnDevice, SizesThatOnlyTheDeviceKnows) {
    auto positive = compile([](Tensor x) { return compact(x, x > 0.5f); }, {f32("n")});
    save_program(path_, positive, zeros({8}));
    const SavedProgram saved = read_program(path_);
    ASSERT_EQ(saved.program->data_sizes.size(), 1u);
    const Tensor x = rand({5000});
    const std::vector<float> wanted = positive(x).to_vector<float>();
    const Call call = run(saved, {x});
    ASSERT_EQ(values<int32_t>(*call.results[0], 1)[0], static_cast<int32_t>(wanted.size()));
    EXPECT_EQ(values<float>(*call.results[1], wanted.size()), wanted);
    // The count of one call is the size of an argument of the next: that cannot be saved.
    auto doubled = compile([](Tensor y) { return 2.0f * y; }, {f32("k")});
    expect_parts(user_error([&] { save_program(path_, doubled, positive(x)); }),
                 {"save_program", "only the device knows the size 'k'"});
}

// It has memory for the most that it could be, and its count is captured, too.
TEST_F(SavedOnDevice, CapturedTensorsOfASizeThatOnlyTheDeviceKnows) {
    const Tensor some = rand({100});
    const Tensor found = compact(some, some > 0.5f);
    auto scaled = compile([&](Tensor x) { return x * sum(found); }, {f32("n")});
    const Tensor x = rand({50});
    save_program(path_, scaled, zeros({4}));
    const SavedProgram saved = read_program(path_);
    EXPECT_EQ(saved.program->arguments.size(), 1u);
    const Call call = run(saved, {x});
    expect_close(values<float>(*call.results.back(), 50), scaled(x).to_vector<float>());
}

TEST_F(SavedOnDevice, WideNumbers) {
    if (!session_->profile().has_f64 || !session_->profile().has_i64) GTEST_SKIP() << "no f64";
    auto scaled = compile([](Tensor x, Tensor a, Tensor b) { return x.as(f64) * a + b.as(f64); },
                          {f32("n"), f64(), i64()});
    save_program(path_, scaled, zeros({4}), 0.1, int64_t{1} << 40);
    const SavedProgram saved = read_program(path_);
    const Tensor x = rand({100});
    EXPECT_EQ(values<double>(*run(saved, {x}).results[0], 100),
              scaled(x, 0.1, int64_t{1} << 40).to_vector<double>());
}

TEST_F(SavedOnDevice, LoopsThatTheDataEndsRunButAreNotRecorded) {
    auto halve = compile(
        [](Tensor x) {
            const Tensor i = index(x, 0);
            while_([&] { return max(x) > 1.0f; }, [&] { x = 0.25f * (x(i - 1) + x(i + 1)); });
            return x;
        },
        {f32("n")});
    save_program(path_, halve, ones({4}));
    const SavedProgram saved = read_program(path_);
    const Tensor x = 1000.0f * rand({2000});
    Call call = run(saved, {x});
    EXPECT_EQ(values<float>(*call.results[0], 2000), halve(x).to_vector<float>());
    expect_parts(user_error([&] { record_again(saved, call); }),
                 {"cannot be recorded into one command buffer", "max_steps"});
}

/// The files of each format: the function below, for the reference profile of a CPU driver. The
/// oldest one was written when kernels stated no needs and no format.
TEST_F(SavedOnDevice, FilesOfOlderFormatsRun) {
    if (!session_->profile().storage_16bit) GTEST_SKIP() << "it stores no halves";
    auto scaled = compile([](Tensor x) { return 2.0f * x.as(f32) + 1.5f; }, {f16("n")});
    const Tensor x = (1000.0f * rand({1001})).as(f16);
    const auto file = [](int format) {
        return read_program(FIRN_SOURCE_DIR "/tests/device/files/format_" + std::to_string(format) +
                            ".firn");
    };
    for (const int format : {2, 3})
        EXPECT_EQ(values<float>(*run(file(format), {x}).results[0], 1001),
                  scaled(x).to_vector<float>())
            << format;
    EXPECT_TRUE(file(3).program->kernels.at(0).needs.known);
    const SavedProgram saved = file(2);
    ASSERT_FALSE(saved.program->kernels.at(0).needs.known);
    // The needs of its kernels are found in their modules.
    const Session small = device_session({.limit = [](const DeviceProfile& all) {
        DeviceProfile less = all;
        less.storage_16bit = false;
        return less;
    }});
    auto& runs = static_cast<VulkanExecutor&>(small.executor());
    expect_parts(user_error([&] { LoadedProgram(runs.shared_device(), *saved.program); }),
                 {"uses values of 16 bits, which this device lacks"});
}

TEST_F(SavedOnDevice, KernelsOfAnotherFormatAreRefused) {
    auto doubled = compile([](Tensor x) { return 2.0f * x; }, {f32("n")});
    save_program(path_, doubled, zeros({4}));
    Program program = *read_program(path_).program;
    program.kernels.at(0).artefact.format = "elf";
    auto& runs = static_cast<VulkanExecutor&>(executor());
    expect_parts(user_error([&] { LoadedProgram(runs.shared_device(), program); }),
                 {"of the format 'elf'", "compile the program for this device"});
}

TEST_F(SavedOnDevice, ADeviceWithLessIsNamed) {
    auto sums = compile([](Tensor x) { return softmax(x, {.axis = 1}); }, {f32("n", 512)});
    save_program(path_, sums, zeros({4, 512}));
    const SavedProgram saved = read_program(path_);
    check_device(*saved.program, session_->profile());
    DeviceProfile other = session_->profile();
    other.max_group_size = 1;
    const std::string said = user_error([&] { check_device(*saved.program, other); });
    expect_parts(said, {"invocations in a workgroup", "this device has 1"});
    // The same when the program is about to run.
    const Session small = device_session({.limit = [](const DeviceProfile& all) {
        DeviceProfile less = all;
        less.max_group_size = 1;
        return less;
    }});
    auto& runs = static_cast<VulkanExecutor&>(small.executor());
    EXPECT_EQ(user_error([&] { LoadedProgram(runs.shared_device(), *saved.program); }), said);
}

TEST_F(SavedOnDevice, LanesOfAnotherNumberAreRefused) {
    auto sums = compile([](Tensor x) { return softmax(x, {.axis = 1}); }, {f32("n", 512)});
    save_program(path_, sums, zeros({4, 512}));
    SavedProgram saved = read_program(path_);
    Program program = *saved.program;
    if (std::none_of(program.kernels.begin(), program.kernels.end(),
                     [](const KernelInfo& kernel) { return kernel.needs.subgroups; }))
        GTEST_SKIP() << "its lanes share nothing";
    program.profile.subgroup_size *= 2;  // as if another device had compiled it
    auto& runs = static_cast<VulkanExecutor&>(executor());
    expect_parts(user_error([&] { LoadedProgram(runs.shared_device(), program); }),
                 {"lanes of a subgroup", "subgroups of"});
}

TEST_F(SavedOnDevice, MemoryIsPackedForEveryDevice) {
    save_program(path_, wave(), zeros({4, 4}), zeros({4, 4}), 0.1f);
    EXPECT_GE(read_program(path_).program->profile.buffer_alignment, 256u);
}

TEST_F(SavedOnDevice, SizesBeyondWhatItBindsAreRefused) {
    auto twice = compile([](Tensor x) { return x + x; }, {f32("n")});
    save_program(path_, twice, zeros({4}));
    SavedProgram saved = read_program(path_);
    Program program = *saved.program;
    ASSERT_FALSE(program.assumed.empty());
    program.assumed[0].most = 100;
    saved.program = std::make_shared<Program>(program);
    expect_parts(user_error([&] { run(saved, {zeros({4000})}); }),
                 {"this program binds at most 100", "as large as these"});
}

// If the call exceeds the limits of the fastest bindings, the file's program does without them.
TEST_F(SavedOnDevice, OneThatIsSavedWithLargeTensorsBindsThem) {
    DeviceProfile few_texels = session_->profile();
    few_texels.max_view_elements = 4096;
    const Session small = device_session(
        {.validation = true, .limit = [=](const DeviceProfile&) { return few_texels; }});
    SessionScope scope(small);
    auto twice = compile([](Tensor x) { return x + x; }, {f32("n")});
    Tensor x = rand({500000});
    save_program(path_, twice, zeros({4}));
    if (read_program(path_).program->assumed.empty()) GTEST_SKIP() << "it binds any size";
    save_program(path_, twice, x);
    const SavedProgram saved = read_program(path_);
    for (const AssumedSize& assumed : saved.program->assumed)
        EXPECT_GE(assumed.most, assumed.size.evaluate({{"n", 500000}}));
    const std::vector<float> wanted = twice(x).to_vector<float>();
    const std::vector<float> all = x.to_vector<float>();
    scope_.reset();
    scope_ = std::make_unique<SessionScope>(*session_);
    const Call call = run(saved, {tensor(all)});
    EXPECT_EQ(values<float>(*call.results[0], all.size()), wanted);
    EXPECT_EQ(validation_report(small), "");
}

TEST_F(SavedOnDevice, WhatPrintsOrAssertsIsRefused) {
    auto prints = compile(
        [](Tensor x) {
            print_value(x);
            return x;
        },
        {f32("n")});
    expect_parts(user_error([&] { save_program(path_, prints, zeros({4})); }),
                 {"prints a value", "saved_programs_test.cpp"});
    auto asserts = compile(
        [](Tensor x) {
            assert_value(x > 0, "positive");
            return x;
        },
        {f32("n")});
    expect_parts(user_error([&] { save_program(path_, asserts, zeros({4})); }),
                 {"checks a condition", "saved_programs_test.cpp"});
}

// A session can run every program from its bytes: lazily, with memory given away, and with sizes
// assumed.
TEST_F(SavedOnDevice, SessionsOfReadPrograms) {
    const auto saving = std::make_shared<SavingExecutor>(device_session({.validation = true}));
    const auto results = [] {
        std::vector<std::vector<float>> out;
        Tensor x = rand({60, 50}, {.seed = 3});
        out.push_back(softmax(matmul(x, transpose(x)), {.axis = 1}).to_vector<float>());
        out.push_back(sort(reshape(x, {3000})).to_vector<float>());
        out.push_back(cumsum(x, {.axis = 1}).to_vector<float>());
        auto step = wave();
        Tensor u = x, v = 0.0f * x;
        for (int k = 0; k < 4; ++k) std::tie(u, v) = step(std::move(u), std::move(v), 0.1f);
        out.push_back(u.to_vector<float>());
        out.push_back(grad(sum(tanh(x) * x), x).to_vector<float>());
        return out;
    };
    const auto expected = results();
    const Session reads{SharedPtr<Executor>(saving)};
    reads.compile_in_background(false);
    SessionScope scope(reads);
    EXPECT_EQ(results(), expected);
    EXPECT_EQ(validation_report(saving->session()), "");
    EXPECT_GE(saving->programs(), 5u);
}

}  // namespace
}  // namespace firn
