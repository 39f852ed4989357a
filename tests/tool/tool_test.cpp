// The tool `firn` on files that are saved here: what it prints, what it computes, what it refuses.
#include <firn/firn.h>
#include <firn/saved_programs.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "apps/fluid/simulation.h"
#include "compiler/algorithms/compact.h"
#include "compiler/base/error.h"
#include "compiler/files/tensor_files.h"
#include "compiler/program/saved_program.h"
#include "compiler/target/native/llvm.h"
#include "tests/tree/shell.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTool = FIRN_BIN_DIR "/firn ";
constexpr const char* kNoDriver = "VK_DRIVER_FILES=/dev/null VK_ICD_FILENAMES=/dev/null ";

/// The step of apps/wave.
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

class Tool : public testing::Test {
  protected:
    Tool() { fs::create_directories(folder); }
    ~Tool() override { fs::remove_all(folder); }

    std::string path(const std::string& name) const { return folder + "/" + name; }
    /// Runs the tool, with `environment` in front of it.
    static Outcome tool(const std::string& arguments, const std::string& environment = "") {
        return run(environment + " " + kTool + arguments);
    }
    static bool says(const Outcome& outcome, const std::string& text) {
        return outcome.output.find(text) != std::string::npos;
    }
    /// The words of a command that names files of the folder: `@wave.firn`.
    std::string in_folder(std::string words) const {
        for (size_t at = 0; (at = words.find('@', at)) != words.npos;)
            words.replace(at, 1, folder + "/");
        return words;
    }
    void expect_refused(const std::string& arguments, const std::string& text, int status = 2) {
        const Outcome outcome = tool(in_folder(arguments));
        EXPECT_EQ(outcome.status, status) << arguments << ": " << outcome.output;
        EXPECT_TRUE(says(outcome, text)) << arguments << ": " << outcome.output;
    }

    static std::vector<std::string> all_devices() {
        return why_no_llvm().empty() ? std::vector<std::string>{"vulkan", "cpu"}
                                     : std::vector<std::string>{"vulkan"};
    }
    /// The devices that --device takes for the forms of all_devices().
    static std::vector<std::string> device_flags() {
        return why_no_llvm().empty() ? std::vector<std::string>{"--device 0", "--device cpu"}
                                     : std::vector<std::string>{"--device 0"};
    }

    /// Saves the wave, and its start as u.npy and v.npy, of odd sizes.
    void save_wave(std::vector<std::string> devices = all_devices()) {
        auto [i, j] = indices<2>(Shape{13, 7});
        u = exp(-0.1f * (square(i - 6) + square(j - 3)).as(f32));
        v = zeros({13, 7});
        save_npy(path("u.npy"), u);
        save_npy(path("v.npy"), v);
        Param<float> dt{
            panel, "dt", 0.25f, {.min = 0, .max = 0.5, .unit = "s", .help = "time step"}};
        save_program(path("wave.firn"), wave(), {.devices = std::move(devices)}, u, v, dt);
    }
    void expect_near(const Tensor& found, const Tensor& wanted, float most = 1e-5f) {
        ASSERT_EQ(text(found.shape()), text(wanted.shape()));
        EXPECT_LT(max(abs(found - wanted)).item<float>(), most);
    }
    nlohmann::json exported(const std::string& to) const {
        return nlohmann::json::parse(std::ifstream(path(to + "/program.json")));
    }

    std::string folder = testing::TempDir() + "firn_tool_" +
                         testing::UnitTest::GetInstance()->current_test_info()->name();
    SessionScope scope{Session::interpreter()};
    Gui panel;
    Tensor u, v;
};

TEST_F(Tool, ExplainsItself) {
    for (const char* command : {"", "inspect ", "run ", "bench ", "export "}) {
        const Outcome outcome = tool(std::string(command) + "--help");
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_TRUE(says(outcome, "Usage: firn")) << outcome.output;
    }
    EXPECT_TRUE(says(tool("run --help"), "result k becomes the k-th tensor"));
    EXPECT_EQ(tool("--version").output.substr(0, 5), "firn ");
    expect_refused("", "--help lists all options");
    expect_refused("paint", "--help lists all options");
}

TEST_F(Tool, InspectListsWhatACallTakesAndGives) {
    save_wave();
    const Outcome outcome = tool(in_folder("inspect @wave.firn"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    for (const char* text :
         {"program 'wave'", "for m = 7, n = 13, the sizes of the call that was saved",
          "  0      f32[n, m]", "  2  dt  f32        from parameter dt", "a number in [0, 0.5] s",
          "initially 0.25", "time step", "  1  f32[n, m]", "Form 0: Vulkan", "for all sizes",
          "for m = 7, n = 13"})
        EXPECT_TRUE(says(outcome, text)) << text << "\n" << outcome.output;
    EXPECT_EQ(says(outcome, "native code for "), why_no_llvm().empty()) << outcome.output;
}

TEST_F(Tool, InspectShowsKernelsWithTheirNumbers) {
    save_wave({"vulkan"});
    const SavedProgram saved = read_program(path("wave.firn"));
    const Outcome outcome = tool(in_folder("inspect @wave.firn --size n=512 --size m=256"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    ASSERT_EQ(saved.program->kernels.size(), 1u);
    const KernelInfo& kernel = saved.program->kernels[0];
    EXPECT_TRUE(says(outcome, kernel.name)) << outcome.output;
    EXPECT_TRUE(says(outcome, kernel.lines.at(0))) << outcome.output;
    EXPECT_TRUE(says(outcome, "groups of " + std::to_string(kernel.group_size[0]) + " x "));
    EXPECT_TRUE(says(outcome, "binding 0: ")) << outcome.output;
    // A formula, and its value.
    const DispatchStep& step = std::get<DispatchStep>(saved.program->steps.at(0).step);
    SizeEnv symbols = bind_symbols(*saved.program, {{512, 256}, {512, 256}, {}}, saved.scalars);
    EXPECT_TRUE(says(
        outcome, step.groups[0].text() + " = " + std::to_string(step.groups[0].evaluate(symbols))))
        << outcome.output;
    EXPECT_TRUE(says(outcome, step.work.bytes_written.text() + " bytes = 1 MiB")) << outcome.output;
    EXPECT_TRUE(says(outcome, "temporaries: none")) << outcome.output;
    EXPECT_TRUE(says(outcome, "invocations in a group")) << outcome.output;
}

TEST_F(Tool, InspectShowsTemporariesConstantsAndLoops) {
    const Tensor weights = arange(5).as(f32);
    auto smooth = compile(
        [&](Tensor x, Tensor rounds) {
            for (Tensor k : loop(rounds)) x = cumsum(x + 0.0f * k.as(f32)) / sum(x);
            return x + sum(weights);
        },
        {f32("n"), i32()});
    save_program(path("smooth.firn"), smooth, {.devices = {"vulkan"}}, ones({64}), 3);
    const Outcome outcome = tool(in_folder("inspect @smooth.firn"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(says(outcome, "temporary buffer")) << outcome.output;
    EXPECT_TRUE(says(outcome, "packed by lifetime")) << outcome.output;
    EXPECT_FALSE(says(outcome, "constants: none")) << outcome.output;
    EXPECT_TRUE(says(outcome, "repeat max(0, $1) = 3 times")) << outcome.output;
    EXPECT_TRUE(says(outcome, "a number, 3 if none is given")) << outcome.output;
}

TEST_F(Tool, RunGivesTheNumbersOfTheFunction) {
    save_wave();
    const auto [wanted_u, wanted_v] = wave()(u, v, 0.1f);
    for (const std::string& device : device_flags()) {
        const Outcome outcome =
            tool(in_folder("run @wave.firn --arg 0=@u.npy --arg 1=@v.npy --set "
                           "dt=0.1 --out @r.npy --out 1=@s.npy " +
                           device));
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_TRUE(says(outcome, "result 0: f32[13, 7], from ")) << outcome.output;
        expect_near(load_npy(path("r.npy")), wanted_u);
        expect_near(load_npy(path("s.npy")), wanted_v);
    }
}

TEST_F(Tool, RunFeedsResultsBack) {
    save_wave();
    Tensor wanted_u = u, wanted_v = v;
    for (int k = 0; k < 7; ++k) std::tie(wanted_u, wanted_v) = wave()(wanted_u, wanted_v, 0.25f);
    for (const std::string& device : device_flags()) {
        const Outcome outcome = tool(in_folder(
            "run @wave.firn --arg 0=@u.npy --arg 1=@v.npy --frames 7 --out @r.npy " + device));
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_TRUE(says(outcome, "result 1 becomes argument 1 (f32[n, m]) of the next call"))
            << outcome.output;
        expect_near(load_npy(path("r.npy")), wanted_u);
    }
    // The speed alone is fed back.
    Tensor only_v = v, result;
    for (int k = 0; k < 3; ++k) std::tie(result, only_v) = wave()(u, only_v, 0.25f);
    const Outcome outcome = tool(in_folder(
        "run @wave.firn --arg 0=@u.npy --arg 1=@v.npy --frames 3 --feed 1:1 --out @r.npy"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    expect_near(load_npy(path("r.npy")), result);
}

TEST_F(Tool, RunFeedsResultsToArgumentsOfTheirName) {
    auto grow = compile(
        [](Tensor x, Tensor y) {
            return std::tuple{y + x, x + x};
        },
        {f32("n"), f32("n")});
    SaveOptions options;
    options.devices = {"vulkan"};
    options.arguments = {"x", "y"};
    options.results = {"y", "x"};
    save_program(path("grow.firn"), grow, options, ones({3}), ones({3}));
    save_npy(path("x.npy"), tensor({1, 2, 3}).as(f32));
    // y becomes 0 + 1 + 2 + 4 times x.
    const Outcome outcome = tool(in_folder(
        "run @grow.firn --arg x=@x.npy --size n=3 --frames 3 --out y=@r.npy --out @s.npy"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(says(outcome, "result 0 'y' becomes argument 1 (y, f32[n])")) << outcome.output;
    expect_near(load_npy(path("r.npy")), tensor({7, 14, 21}).as(f32));
    EXPECT_TRUE(says(tool(in_folder("run @grow.firn --size n=3 --out z=@r.npy")), "z=")) << "";
    EXPECT_TRUE(says(tool(in_folder("inspect @grow.firn")), "0  y  f32[n]"));
}

TEST_F(Tool, RunKeepsArgumentsThatACallWritesOver) {
    // The memory of x becomes that of the result, and y is read again in every call.
    auto add = compile(
        [](Tensor x, Tensor y) {
            return std::tuple{x + y, x * y};
        },
        {f32("n"), f32("n")});
    save_program(path("add.firn"), add, {.devices = all_devices()}, ones({5}), ones({5}));
    save_npy(path("x.npy"), tensor({1, 2, 3, 4, 5}).as(f32));
    save_npy(path("y.npy"), tensor({2, 2, 2, 2, 3}).as(f32));
    for (const std::string& device : device_flags()) {
        const Outcome outcome = tool(in_folder(
            "run @add.firn --arg 0=@x.npy --arg 1=@y.npy --frames 4 --feed 0:0 --out @r.npy " +
            device));
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_EQ(load_npy(path("r.npy")).to_vector<float>(),
                  (std::vector<float>{9, 10, 11, 12, 17}));
        // Both arguments from one result.
        EXPECT_EQ(tool(in_folder("run @add.firn --arg 0=@x.npy --arg 1=@y.npy --frames 3 --feed "
                                 "0:0 --feed 0:1 --out @r.npy " +
                                 device))
                      .status,
                  0);
        EXPECT_EQ(load_npy(path("r.npy")).to_vector<float>(),
                  (std::vector<float>{12, 16, 20, 24, 32}));
    }
}

TEST_F(Tool, RunTakesEveryTypeOfElement) {
    auto all = compile(
        [](Tensor b, Tensor h, Tensor c, Tensor k, Tensor s) {
            return std::tuple{!b, h + h, c + c, k * 2, s * 3};
        },
        {boolean("n"), f16("n"), bf16("n"), u8("n"), i32()});
    const Tensor b = tensor({true, false, true}), h = tensor({1, 2, 3}).as(f16),
                 c = tensor({1, 2, 3}).as(bf16), k = tensor({1, 2, 130}).as(u8);
    save_program(path("all.firn"), all, {.devices = all_devices()}, b, h, c, k, 5);
    save_npy(path("b.npy"), b);
    save_npy(path("h.npy"), h);
    save_npy(path("c.npy"), c.as(f32));
    save_npy(path("k.npy"), k);
    for (const std::string& device : device_flags()) {
        const Outcome outcome = tool(
            in_folder("run @all.firn --arg 0=@b.npy --arg 1=@h.npy --arg 2=@c.npy --arg 3=@k.npy "
                      "--arg 4=7 --out @b2.npy --out 1=@h2.npy --out 2=@c2.npy --out 3=@k2.npy "
                      "--out 4=@s2.npy " +
                      device));
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_EQ(load_npy(path("b2.npy")).as(i32).to_vector<int>(), (std::vector<int>{0, 1, 0}));
        EXPECT_EQ(load_npy(path("h2.npy")).as(f32).to_vector<float>(),
                  (std::vector<float>{2, 4, 6}));
        EXPECT_EQ(load_npy(path("c2.npy")).to_vector<float>(), (std::vector<float>{2, 4, 6}));
        EXPECT_EQ(load_npy(path("k2.npy")).as(i32).to_vector<int>(),
                  ((k * 2).as(i32).to_vector<int>()));
        EXPECT_EQ(load_npy(path("s2.npy")).as(i32).item<int>(), 21);
    }
}

TEST_F(Tool, RunTakesTensorsWithoutElements) {
    save_wave();
    save_npy(path("none.npy"), zeros({0, 7}));
    for (const std::string& device : device_flags()) {
        const Outcome outcome = tool(in_folder(
            "run @wave.firn --arg 0=@none.npy --arg 1=@none.npy --frames 2 --out @r.npy " +
            device));
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_TRUE(says(outcome, "result 0: f32[0, 7], no elements")) << outcome.output;
        EXPECT_EQ(text(load_npy(path("r.npy")).shape()), "[0, 7]");
        EXPECT_EQ(tool(in_folder("bench @wave.firn --rounds 2 --size n=0 " + device)).status, 0);
        EXPECT_EQ(tool(in_folder("inspect @wave.firn --size n=0")).status, 0);
    }
}

TEST_F(Tool, RunWritesResultsWhoseSizeTheDataDecides) {
    auto found = compile([](Tensor x) { return nonzero(x); }, {f32("n")});
    save_npy(path("x.npy"), tensor({0, 3, 0, 4, 5}).as(f32));
    save_program(path("found.firn"), found, {.devices = all_devices()}, zeros({5}));
    for (const std::string& device : device_flags()) {
        const Outcome outcome =
            tool(in_folder("run @found.firn --arg 0=@x.npy --out @r.npy " + device));
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        EXPECT_EQ(text(load_npy(path("r.npy")).shape()), "[3, 1]") << outcome.output;
        EXPECT_EQ(load_npy(path("r.npy")).as(i32).to_vector<int>(), (std::vector<int>{1, 3, 4}));
    }
}

TEST_F(Tool, RunFillsTensorsWithZerosWhereASizeIsGiven) {
    save_wave();
    const Outcome outcome = tool(in_folder("run @wave.firn --size n=4 --size m=3"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(says(outcome, "result 0: f32[4, 3], from 0 to 0")) << outcome.output;
}

TEST_F(Tool, RefusesWhatDoesNotFit) {
    save_wave();
    save_npy(path("small.npy"), zeros({12, 7}));
    save_npy(path("flat.npy"), zeros({13}));
    save_npy(path("whole.npy"), zeros({13, 7}).as(i32));
    const std::string call = "run @wave.firn --arg 0=@u.npy --arg 1=@v.npy ";
    expect_refused("run @nowhere.firn", "nowhere.firn");
    expect_refused("run @u.npy", "it is no saved program");
    expect_refused("run @wave.firn", "no file was given for argument 0 (f32[n, m]), argument 1");
    expect_refused("run @wave.firn --arg w=@u.npy",
                   "there is no argument w; there are: argument 0");
    expect_refused("run @wave.firn --arg @u.npy", "give a name and a value");
    expect_refused(call + "--arg 0=@u.npy", "is given twice");
    expect_refused(call + "--arg dt=0.1", "give --set dt=0.1");
    expect_refused("run @wave.firn --arg 0=@nowhere.npy --arg 1=@v.npy", "nowhere.npy");
    expect_refused("run @wave.firn --arg 0=@whole.npy --arg 1=@v.npy", "which has i32[13, 7]");
    expect_refused("run @wave.firn --arg 0=@flat.npy --arg 1=@v.npy", "which has f32[13]");
    expect_refused("run @wave.firn --arg 0=@small.npy --arg 1=@v.npy", "12");
    expect_refused(call + "--set speed=1", "dt");
    expect_refused(call + "--set dt=0.7", "dt");
    expect_refused(call + "--set dt", "give a name and a value");
    expect_refused(call + "--out @r.png", "must end in .npy");
    expect_refused(call + "--out 2=@r.npy", "there is no result 2; there are: 0 (f32[n, m]), 1");
    expect_refused(call + "--out @no/r.npy", "there is no folder");
    expect_refused(call + "--frames 0", "--frames");
    expect_refused(call + "--frames 2 --feed 0", "as in 0:u");
    expect_refused(call + "--frames 2 --feed 0:dt", "the argument is a number");
    expect_refused(call + "--frames 2 --feed 7:0", "there is no result 7");
    expect_refused(call + "--frames 2 --feed 0:0 --feed 1:0", "another result already");
    expect_refused(call + "--device 99", "99");
    for (const char* command : {"inspect", "run", "bench"}) {
        const std::string start = std::string(command) + " @wave.firn --size ";
        expect_refused(start + "k=3", "the program has no size k; it has m, n");
        expect_refused(start + "n=-3", "this is no size");
        expect_refused(start + "n=many", "this is no size");
        expect_refused(start + "n", "give a name and a value");
    }
    expect_refused("bench @wave.firn --rounds 0", "--rounds");
    expect_refused("bench @wave.firn --size n=2000000000 --size m=100000000000",
                   "give smaller sizes");
    expect_refused("bench @wave.firn --size n=2000000000 --size m=50000", "these sizes", 1);
    expect_refused("export @wave.firn --to metal @out", "--to");
    expect_refused("export @wave.firn --to spirv @u.npy", "this is no folder");
    expect_refused("export @wave.firn --to spirv @out --form 99", "the file has forms 0 to");
}

TEST_F(Tool, RefusesAFrameWithoutAnythingToFeed) {
    auto total = compile([](Tensor x) { return sum(x); }, {f32("n")});
    save_program(path("total.firn"), total, {.devices = {"vulkan"}}, ones({4}));
    save_npy(path("x.npy"), ones({4}));
    expect_refused("run @total.firn --arg 0=@x.npy --frames 2", "give --feed RESULT:ARGUMENT");
}

TEST_F(Tool, RefusesDamagedFiles) {
    save_wave({"vulkan"});
    std::ifstream in(path("wave.firn"), std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    bytes[bytes.size() / 2] ^= 4;
    std::ofstream(path("damaged.firn"), std::ios::binary) << bytes;
    std::ofstream(path("cut.firn"), std::ios::binary) << bytes.substr(0, bytes.size() / 3);
    for (const char* command : {"inspect", "run", "bench", "export --to spirv"})
        for (const std::string file : {"damaged.firn", "cut.firn"}) {
            const Outcome outcome =
                tool(in_folder(std::string(command) + " @" + file +
                               (command == std::string("export --to spirv") ? " @out" : "")));
            EXPECT_EQ(outcome.status, 2) << command << file << outcome.output;
            EXPECT_TRUE(says(outcome, file)) << outcome.output;
        }
}

TEST_F(Tool, SaysWhenNoDeviceRunsTheFile) {
    save_wave({"vulkan"});
    const std::string call =
        in_folder("run @wave.firn --arg 0=@u.npy --arg 1=@v.npy --out @r.npy ");
    const Outcome none = tool(call, kNoDriver);
    EXPECT_EQ(none.status, 1) << none.output;
    EXPECT_TRUE(says(none, "firn: ")) << none.output;
    EXPECT_FALSE(fs::exists(path("r.npy")));
    const Outcome other = tool(call + "--device cpu");
    EXPECT_EQ(other.status, 2) << other.output;
    EXPECT_TRUE(says(other, "save it for this device too")) << other.output;
    const Outcome bench = tool(in_folder("bench @wave.firn"), kNoDriver);
    EXPECT_EQ(bench.status, 1) << bench.output;
    EXPECT_TRUE(says(bench, "Vulkan: not measured: ")) << bench.output;
    if (!why_no_llvm().empty()) return;
    save_wave({"cpu"});
    EXPECT_EQ(tool(call, kNoDriver).status, 0);
    EXPECT_TRUE(says(tool(call + "--device 0"), "save it for this device too"));
    expect_refused("export @wave.firn --to hlsl @out", "the file has no program for Vulkan");
    expect_refused("export @wave.firn --to hlsl @out --form 0", "its kernels are not SPIR-V");
}

TEST_F(Tool, AFullDiskLeavesNothingBehind) {
    save_wave();
    const std::string full = "trap '' XFSZ; ulimit -f 0; ";
    for (const std::string& words :
         {std::string("run @wave.firn --arg 0=@u.npy --arg 1=@v.npy --out @r.npy"),
          std::string("export @wave.firn --to spirv @out")}) {
        const Outcome outcome = run("bash -c \"" + full + kTool + in_folder(words) + "\"");
        EXPECT_EQ(outcome.status, 2) << outcome.output;
        EXPECT_TRUE(says(outcome, "firn: ")) << outcome.output;
    }
    EXPECT_FALSE(fs::exists(path("r.npy")));
    EXPECT_TRUE(fs::is_empty(path("out")));
}

TEST_F(Tool, BenchTimesEveryDevice) {
    save_wave();
    const Outcome outcome = tool(in_folder("bench @wave.firn --size n=64 --rounds 5"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(says(outcome, "wave at m = 7, n = 64, medians of 5 rounds")) << outcome.output;
    EXPECT_TRUE(says(outcome, "\nVulkan device ")) << outcome.output;
    EXPECT_TRUE(says(outcome, "  a call: ")) << outcome.output;
    const SavedProgram saved = read_program(path("wave.firn"));
    EXPECT_TRUE(says(outcome, saved.program->kernels[0].name)) << outcome.output;
    EXPECT_EQ(says(outcome, "\nnative code for "), why_no_llvm().empty()) << outcome.output;
    // The form for the sizes of the call that was saved.
    EXPECT_TRUE(says(tool(in_folder("bench @wave.firn --rounds 2")), "(for m = 7, n = 13)"));
}

TEST_F(Tool, ExportWritesModulesAndHowToCallThem) {
    save_wave();
    const Outcome outcome = tool(in_folder("export @wave.firn --to spirv @out"));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const SavedProgram saved = read_program(path("wave.firn"));
    const nlohmann::json written = exported("out");
    ASSERT_EQ(written["kernels"].size(), saved.program->kernels.size());
    const KernelInfo& kernel = saved.program->kernels[0];
    const nlohmann::json& row = written["kernels"][0];
    EXPECT_EQ(row["name"], kernel.name);
    EXPECT_EQ(row["bindings"].size(), kernel.bindings.size());
    EXPECT_EQ(row["group_size"][0], kernel.group_size[0]);
    EXPECT_EQ(row["parameters"]["bytes"], param_offsets(kernel.param_types).back());
    const std::string file = path("out/" + row["file"].get<std::string>());
    EXPECT_EQ(fs::file_size(file), 4 * kernel.artefact.words.size());
    if (run("spirv-val --version").status == 0) {
        EXPECT_EQ(run("spirv-val --target-env vulkan1.2 --scalar-block-layout " + file).output, "");
    }
    const DispatchStep& step = std::get<DispatchStep>(saved.program->steps.at(0).step);
    EXPECT_EQ(written["steps"][0]["groups"][0], step.groups[0].text());
    EXPECT_EQ(written["steps"][0]["kernel"], kernel.name);
    bool has_dt = false;
    for (const nlohmann::json& param : written["steps"][0]["parameters"])
        has_dt |= param["name"] == "dt" && param["argument"] == 2 && param["type"] == "f32";
    EXPECT_TRUE(has_dt) << written["steps"][0].dump(1);
    EXPECT_EQ(written["arguments"][0]["shape"], (std::vector<std::string>{"n", "m"}));
    EXPECT_EQ(written["parameters"][0]["max"], 0.5);
    EXPECT_EQ(written["symbols"], (std::vector<std::string>{"m", "n"}));
}

TEST_F(Tool, ExportWritesConstantsScratchAndLoops) {
    const Tensor weights = arange(5).as(f32);
    auto smooth = compile(
        [&](Tensor x, Tensor rounds) {
            for (Tensor k : loop(rounds)) x = cumsum(x + 0.0f * k.as(f32)) / sum(x);
            return x + weights(index(x, 0) % 5);
        },
        {f32("n"), i32()});
    save_program(path("smooth.firn"), smooth, {.devices = {"vulkan"}}, ones({64}), 3);
    ASSERT_EQ(tool(in_folder("export @smooth.firn --to spirv @out")).status, 0);
    const nlohmann::json written = exported("out");
    size_t constants = 0, temporaries = 0, loops = 0;
    for (const nlohmann::json& buffer : written["buffers"]) {
        temporaries += buffer["role"] == "temporary";
        if (buffer["role"] != "constant") continue;
        ++constants;
        EXPECT_EQ(std::to_string(fs::file_size(path("out/" + buffer["file"].get<std::string>()))),
                  buffer["bytes"]);
    }
    EXPECT_GT(constants, 0u);
    EXPECT_GT(temporaries, 0u);
    EXPECT_EQ(written["scratch"]["temporaries"].size(), temporaries);
    for (const nlohmann::json& step : written["steps"])
        if (step["step"] == "repeat") {
            ++loops;
            EXPECT_EQ(step["times"], "max(0, $1)");
            EXPECT_EQ(step["body"][0]["barrier_before"], true);
        }
    EXPECT_EQ(loops, 1u);
}

/// Whether the tool was built with SPIRV-Cross.
bool translates(const Outcome& outcome) {
    return outcome.output.find("built without SPIRV-Cross") == std::string::npos;
}

TEST_F(Tool, ExportTranslatesKernels) {
    save_wave();
    struct Row {
        const char *to, *ending, *text;
    };
    for (const Row& row : {Row{"glsl", ".comp", "#version 460"},
                           {"hlsl", ".hlsl", "numthreads"},
                           {"msl", ".metal", "kernel void main0"}}) {
        const Outcome outcome =
            tool(in_folder(std::string("export @wave.firn --to ") + row.to + " @" + row.to));
        if (!translates(outcome)) GTEST_SKIP() << outcome.output;
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        const nlohmann::json kernel = exported(row.to)["kernels"][0];
        const std::string file = kernel["file"];
        EXPECT_TRUE(file.ends_with(row.ending)) << file;
        std::stringstream text;
        text << std::ifstream(path(row.to + ("/" + file))).rdbuf();
        EXPECT_NE(text.str().find(row.text), std::string::npos) << text.str();
        if (row.to == std::string("glsl")) {
            const Outcome compiled =
                run("glslangValidator -V --target-env vulkan1.2 -o /dev/null " +
                    path(row.to + ("/" + file)));
            EXPECT_EQ(compiled.status, 0) << compiled.output;
        } else if (row.to == std::string("hlsl")) {
            EXPECT_NE(text.str().find(": register(" +
                                      kernel["parameters"]["register"].get<std::string>()),
                      std::string::npos)
                << text.str();
            for (const nlohmann::json& binding : kernel["bindings"])
                EXPECT_NE(text.str().find(": register(" + binding["register"].get<std::string>()),
                          std::string::npos)
                    << binding.dump() << text.str();
        } else {
            EXPECT_NE(text.str().find("[[buffer(" + kernel["parameters"]["buffer"].dump() + ")]]"),
                      std::string::npos)
                << text.str();
        }
    }
}

TEST_F(Tool, ExportNamesKernelsThatItCannotTranslate) {
    // Metal has no f64.
    auto two = compile(
        [](Tensor x, Tensor y) {
            return std::tuple{x * 2.0f, y * y};
        },
        {f32("n"), f64("m")});
    save_program(path("two.firn"), two, {.devices = {"vulkan"}}, ones({64}), ones({5}).as(f64));
    const Outcome outcome = tool(in_folder("export @two.firn --to msl @out"));
    if (!translates(outcome)) GTEST_SKIP() << outcome.output;
    EXPECT_EQ(outcome.status, 1) << outcome.output;
    size_t written = 0, refused = 0;
    const nlohmann::json out = exported("out");
    for (const nlohmann::json& kernel : out["kernels"]) {
        if (kernel.contains("file")) {
            ++written;
            EXPECT_TRUE(fs::exists(path("out/" + kernel["file"].get<std::string>())));
            continue;
        }
        ++refused;
        EXPECT_EQ(kernel["needs"][0], "f64");
        EXPECT_TRUE(says(outcome, "kernel " + kernel["name"].get<std::string>() +
                                      " is not written: " + kernel["error"].get<std::string>()))
            << outcome.output;
    }
    EXPECT_EQ(written, 1u);
    EXPECT_EQ(refused, 1u);
    EXPECT_EQ(tool(in_folder("export @two.firn --to hlsl @hlsl")).status, 0);
}

TEST_F(Tool, TheFluidRunsFromItsFile) {
    constexpr int kSize = 32;
    const Tensor open = fluid::default_obstacles(kSize, kSize);
    fluid::Simulation simulation = fluid::make_simulation(zeros({kSize, kSize, 3}) + 0.5f, open);
    const fluid::Flow start = simulation.flow;
    const fluid::Settings settings;
    const fluid::Stroke stroke = fluid::scripted_stroke(3, kSize, kSize, settings);
    const auto& [red, green, blue] = stroke.colour;
    const fluid::Brush brush{stroke.from_y, stroke.from_x,     stroke.to_y, stroke.to_x,
                             stroke.radius, stroke.u,          stroke.v,    stroke.strength,
                             stroke.ink,    {red, green, blue}};
    const fluid::Constants constants{settings.dt, settings.confinement, 0.99f, 0.99f, 2, 3};
    save_program(path("fluid.firn"), simulation.step, {.devices = {"vulkan"}, .sizes = {{}}}, start,
                 brush, constants);
    fluid::Flow flow = start;
    for (int k = 0; k < 2; ++k) flow = simulation.step(flow, brush, constants).flow;
    std::string call = "run @fluid.firn --frames 2 --out @u.npy --out 3=@red.npy";
    const Tensor* fields[] = {&start.u,      &start.v,      &start.pressure,
                              &start.dye[0], &start.dye[1], &start.dye[2]};
    for (int k = 0; k < 6; ++k) {
        const std::string file = "in" + std::to_string(k) + ".npy";
        save_npy(path(file), *fields[k]);
        call += " --arg " + std::to_string(k) + "=@" + file;
    }
    const Outcome outcome = tool(in_folder(call));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(says(outcome, "result 5 becomes argument 5")) << outcome.output;
    EXPECT_FALSE(says(outcome, "result 6 becomes")) << outcome.output;
    expect_near(load_npy(path("u.npy")), flow.u, 1e-3f);
    expect_near(load_npy(path("red.npy")), flow.dye[0], 1e-4f);
    EXPECT_EQ(tool(in_folder("inspect @fluid.firn")).status, 0);
    for (const char* to : {"spirv", "hlsl", "msl"}) {
        const Outcome exporting =
            tool(in_folder(std::string("export @fluid.firn --to ") + to + " @" + to));
        EXPECT_EQ(exporting.status, translates(exporting) ? 0 : 2) << exporting.output;
    }
    if (run("spirv-val --version").status != 0) return;
    for (const auto& entry : fs::directory_iterator(path("spirv"))) {
        if (entry.path().extension() != ".spv") continue;
        EXPECT_EQ(
            run("spirv-val --target-env vulkan1.2 --scalar-block-layout " + entry.path().string())
                .output,
            "");
    }
}

}  // namespace
}  // namespace firn
