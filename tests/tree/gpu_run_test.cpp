// tests/gpu/run: what it packs runs elsewhere, and its table says what was done and what was not.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/tree/shell.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBin = FIRN_BINARY_DIR "/bin";

// A substitute for firn_bench: a device, two cases of which the second one ends the program, and
// one that is left behind it.
constexpr const char* kBench = R"sh(#!/bin/sh
case "$*" in
    *--show-device*|*--list-devices*) [ -z "$FIRN_NO_GPU" ] || { echo "no driver was found" >&2; exit 1; }
        echo "0  Some GPU (one)  (discrete GPU, 8192 MiB, Driver 1.2 (3))"
        case "$*" in *list*) echo "1  Some GPU (two)  (discrete GPU, 8192 MiB, Driver 1.2 (3))" ;; esac ;;
    *--list*) printf 'chain\nbroken\nlast\n' ;;
    *) while [ "$1" != --csv ]; do [ "$1" != --after ] || after=$2; shift; done
        echo 'case,firn_ms,best_ms,plain_ms,torch_ms,torch_best_ms,over_bound,firn_spread,best_spread' > "$2"
        [ -z "$FIRN_SLOW" ] || { echo 'chain,2.0,1.6,-,-,-,1.25,0.05,0.0' >> "$2"; touch "$FIRN_SLOW"; exec sleep 60; }
        [ -z "$after" ] || { echo 'last,not run: no time was left' >> "$2"; exit 0; }
        echo 'chain,2.0,1.6,-,-,-,1.25,0.05,0.0' >> "$2"
        echo 'it broke'; kill -SEGV $$ ;;
esac
)sh";
// A substitute for a suite: one test that does not end if FIRN_SLOW is set.
constexpr const char* kSuite = R"sh(#!/bin/sh
case "$*" in
    *--gtest_list_tests*) [ -z "$FIRN_SLOW" ] || printf 'Slow.\n  Test\n' ;;
    *) echo '[ RUN      ] Slow.Test'; touch "$FIRN_SLOW"; exec sleep 61.375 ;;
esac
)sh";
constexpr const char* kPython = R"sh(#!/bin/sh
[ "$1" != -c ] || exit 0
echo '# PyTorch 9 on Some GPU'
echo 'chain,torch.compile,1.0'
echo 'chain,torch tf32,0.5,apart'
)sh";

void write(const fs::path& path, const std::string& text) {
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_all);
}

/// Packs once, and unpacks in another folder.
class GpuRun : public testing::Test {
  protected:
    static fs::path folder() { return fs::path(testing::TempDir()) / "gpu_run"; }
    static std::string runner() { return (folder() / "away/firn-gpu/tests/gpu/run").string(); }

    static void SetUpTestSuite() {
        if (!fs::exists(fs::path(kBin) / "test_gpu")) return;
        fs::remove_all(folder());
        fs::create_directories(folder() / "bin");
        fs::create_directories(folder() / "away");
        // One program for most suites, so that packing takes no time.
        write(folder() / "bin/test_runtime", kSuite);
        for (const char* suite : {"test_gpu", "test_device", "test_device_programs"})
            fs::create_symlink(fs::path(kBin) / "test_gpu", folder() / "bin" / suite);
        write(folder() / "bin/firn_bench", kBench);
        write(folder() / "python", kPython);
        packed() = run("tests/gpu/run --pack '" + (folder() / "pack.tar.gz").string() +
                       "' --from '" + (folder() / "bin").string() + "'");
        run("tar -C '" + (folder() / "away").string() + "' -xzf '" +
            (folder() / "pack.tar.gz").string() + "'");
    }
    static void TearDownTestSuite() { fs::remove_all(folder()); }
    void SetUp() override {
        if (!fs::exists(fs::path(kBin) / "test_gpu")) GTEST_SKIP() << "test_gpu is not built";
        if (packed().output.find("validation layer is not installed") != std::string::npos)
            GTEST_SKIP() << packed().output;
        ASSERT_EQ(packed().status, 0) << packed().output;
    }
    static Outcome& packed() {
        static Outcome outcome;
        return outcome;
    }
    static Outcome runs(const std::string& arguments, const std::string& environment = "") {
        return run("cd '" + (folder() / "away").string() + "' && env " + environment + " '" +
                   runner() + "' --out '" + (folder() / "results").string() + "' " + arguments);
    }
    static bool says(const Outcome& outcome, const std::string& part) {
        return outcome.output.find(part) != std::string::npos;
    }
};

TEST_F(GpuRun, SaysHowLargeThePackIs) { EXPECT_TRUE(says(packed(), " MB, ")) << packed().output; }

TEST_F(GpuRun, RunsTestsElsewhereWithThePackedLayer) {
    if (run(kBin + std::string("/test_gpu --gtest_filter=Device.*")).output.find("no device") !=
        std::string::npos)
        GTEST_SKIP() << "no device";
    const Outcome outcome = runs("--only tests --filter 'MatrixUnit*:BufferTest.*' --minutes 1");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(says(outcome, "device tests with validation: ")) << outcome.output;
    EXPECT_TRUE(says(outcome, " 0 failed")) << outcome.output;
}

TEST_F(GpuRun, WritesATableOfRatiosToWhatComputesTheSame) {
    const Outcome outcome =
        runs("--only bench,others --python '" + (folder() / "python").string() + "'");
    EXPECT_TRUE(says(outcome,
                     "| chain | 2.000 | 5% | 1.000 | torch.compile | 2.00 | 1.600 | 1.25 "
                     "| torch.compile 1.000, torch tf32 0.500, GLSL by hand 1.600 |"))
        << outcome.output;
    EXPECT_TRUE(says(outcome, "# Firn on Some GPU (one)\n")) << outcome.output;
    EXPECT_TRUE(says(outcome, "Driver 1.2 (3)")) << outcome.output;
    std::ifstream file(folder() / "results/table.md");
    std::ostringstream table;
    table << file.rdbuf();
    EXPECT_TRUE(says(outcome, table.str())) << table.str();
}

TEST_F(GpuRun, GoesOnBehindACaseThatEndsTheProgram) {
    const Outcome outcome = runs("--only bench");
    EXPECT_EQ(outcome.status, 1) << outcome.output;
    EXPECT_TRUE(says(outcome, "Failed:\n\n- broken: firn_bench ended with 139: it broke"))
        << outcome.output;
    EXPECT_TRUE(says(outcome, "Not run:\n\n- last: no time was left")) << outcome.output;
}

TEST_F(GpuRun, NamesOtherDevices) {
    EXPECT_TRUE(says(runs("--only bench"), "0  Some GPU (one); 1  Some GPU (two)"));
}

TEST_F(GpuRun, SaysThatThereIsNoPython) {
    EXPECT_TRUE(
        says(runs("--only others --python /nowhere"), "/nowhere can import neither torch nor jax"));
}

TEST_F(GpuRun, RefusesAMachineWithoutADevice) {
    const Outcome outcome = runs("", "FIRN_NO_GPU=1");
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_TRUE(says(outcome, "no driver was found")) << outcome.output;
    EXPECT_TRUE(says(outcome, "no device can be used here")) << outcome.output;
}

TEST_F(GpuRun, RefusesAFolderThatHasSomethingElse) {
    const Outcome outcome = run("'" + runner() + "' --out '" + (folder() / "bin").string() + "'");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_TRUE(says(outcome, "has something else in it")) << outcome.output;
}

TEST_F(GpuRun, WritesWhatWasDoneWhenItIsInterrupted) {
    const std::string begun = (folder() / "begun").string();
    const Outcome outcome =
        run("cd '" + folder().string() + "' && FIRN_SLOW='" + begun + "' '" + runner() +
            "' --only bench,programs --out results & run=$!; while [ ! -e '" + begun +
            "' ]; do sleep 0.1; done; kill -TERM $run; wait $run");
    EXPECT_EQ(outcome.status, 130) << outcome.output;
    EXPECT_TRUE(says(outcome, "| chain | 2.000 |")) << outcome.output;
    EXPECT_TRUE(says(outcome, "- programs: interrupted")) << outcome.output;
    EXPECT_TRUE(says(outcome, "It was interrupted.")) << outcome.output;
}

TEST_F(GpuRun, LeavesNothingRunningBehindCtrlC) {
    const std::string begun = (folder() / "begun_tests").string();
    const Outcome outcome =
        run("cd '" + folder().string() + "' && FIRN_SLOW='" + begun +
            "' setsid env --default-signal=INT '" + runner() +
            "' --only tests --filter 'Slow.*' --out results & run=$!; while [ ! -e '" + begun +
            "' ]; do sleep 0.1; done; kill -INT -$run; wait $run");
    EXPECT_EQ(outcome.status, 130) << outcome.output;
    EXPECT_TRUE(says(outcome, "0 of 1 run")) << outcome.output;
    EXPECT_TRUE(says(outcome, "It was interrupted.")) << outcome.output;
    EXPECT_NE(run("pgrep -fx 'sleep 61.375'").status, 0);
}

TEST(GpuRunArguments, AreRefusedInWords) {
    for (const auto& [arguments, part] :
         {std::pair{"--minutes 0", "--minutes takes a number above 0"},
          {"--only bananas", "not 'bananas'"},
          {"--smaller 9", "--smaller takes a number from 0 to 6"},
          {"--device", "--device needs a value"},
          {"--what", "there is no option '--what'"}}) {
        const Outcome outcome = run(std::string("tests/gpu/run ") + arguments);
        EXPECT_EQ(outcome.status, 2) << outcome.output;
        EXPECT_NE(outcome.output.find(part), std::string::npos) << outcome.output;
    }
}

}  // namespace
}  // namespace firn
