// The picture of every demo, small and after a few frames: equal bytes from run to run, and near
// the one that is kept in golden/ on any device. FIRN_WRITE_GOLDEN=1 writes them anew.
#include <firn/firn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>

#include "tests/apps/default_device.h"
#include "tests/tree/shell.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// Few frames, since flows and bodies are chaotic: what rounds otherwise must not have grown yet.
struct Demo {
    const char* name;
    int frames;
    const char* arguments = "";
    bool compiles_fast = true;  // by a Vulkan driver for the CPU: two runs more take seconds
    friend std::ostream& operator<<(std::ostream& out, const Demo& demo) {
        return out << demo.name;
    }
};
/// A process of ctest runs every third of them (tests/suites.cmake): those that compile for long
/// are in different ones.
const Demo kDemos[]{
    {"fluid", 12},
    {"wave", 60},
    {"heat", 20},
    {"particles", 3},
    {"n_body", 3, "--set bodies=2000"},
    {"path_tracer", 2},
    {"mandelbrot", 2},
    {"buddhabrot", 4},
    {"reaction_diffusion", 150},
    {"life", 40},
    {"char_model", 1,  // of a text that does not change
     "--set context=16 --set width=16 --set layers=1 --text " FIRN_SOURCE_DIR "/LICENSE", false},
    {"filters", 1},
    {"train_image", 3, "", false},
    {"neural_ca", 1, "", false},
    {"fluid_control", 1, "--set flow_steps=8", false},
    {"train_digits", 2, "", false},
};

std::string bytes_of_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class GoldenPictures : public testing::TestWithParam<Demo> {
  protected:
    void SetUp() override {
        static const bool has_driver =
            run(FIRN_BIN_DIR "/wave --list-devices | grep -q '^0  '").status == 0;
        if (!has_driver) GTEST_SKIP() << "no Vulkan driver";
    }
    /// Expects what this picture shows to be near the one that is kept.
    static void expect_golden(const fs::path& first);
    static fs::path make(const std::string& file, int frames, const std::string& environment = "") {
        const fs::path out =
            fs::path(testing::TempDir()) / ("golden_" + std::string(GetParam().name) + "_" + file);
        fs::remove(out);
        const Outcome made =
            run(environment + " '" FIRN_BIN_DIR "/" + GetParam().name +
                "' --headless --quiet --size 96x54 --seed 7 --frames " + std::to_string(frames) +
                " " + GetParam().arguments + " --out '" + out.string() + "'");
        EXPECT_EQ(made.status, 0) << made.output;
        return out;
    }
};
INSTANTIATE_TEST_SUITE_P(Demos, GoldenPictures, testing::ValuesIn(kDemos),
                         [](const auto& demo) { return std::string(demo.param.name); });

/// A device that is the CPU runs with few and with many threads, whose order differs in every run.
/// A file of numbers shows the last bit; a drawing does not. Demos that compile slowly run on the
/// default device.
TEST_P(GoldenPictures, AreEqualByteForByteInTwoRuns) {
    const std::string ending = GetParam().name == std::string("particles") ? ".png" : ".npy";
    std::optional<OnDefaultDevice> device;
    if (!GetParam().compiles_fast) device.emplace();
    const auto run_with = [&](const std::string& threads) {
        return make(threads + ending, GetParam().frames + 2,
                    "LP_NUM_THREADS=" + threads + " FIRN_THREADS=" + threads);
    };
    const fs::path first = run_with("2");
    ASSERT_TRUE(fs::exists(first));
    EXPECT_TRUE(bytes_of_file(first) == bytes_of_file(run_with("5"))) << "two runs differ";
}

fs::path kept() {
    return fs::path(FIRN_SOURCE_DIR) / "tests/apps/golden" /
           (std::string(GoldenPictures::GetParam().name) + ".png");
}

void GoldenPictures::expect_golden(const fs::path& first) {
    ASSERT_TRUE(fs::exists(first));
    const fs::path golden = kept();
    ASSERT_TRUE(fs::exists(golden)) << "FIRN_WRITE_GOLDEN=1 writes it";
    SessionScope scope(Session::oracle());
    const Tensor got = load_image(first.string()), expected = load_image(golden.string());
    ASSERT_EQ(got.shape(), expected.shape());
    // The difference, of 255, is less than one on average, and more than 16 in at most a hundredth
    // of the values, where an edge or a point lies a pixel further.
    const std::vector<float> a = got.to_vector<float>(), b = expected.to_vector<float>();
    double total = 0;
    size_t far = 0;
    for (size_t k = 0; k < a.size(); ++k) {
        const double apart = std::abs(double(a[k]) - double(b[k])) * 255;
        total += apart;
        far += apart > 16;
    }
    EXPECT_LT(total / static_cast<double>(a.size()), 1.0);
    EXPECT_LT(far, a.size() / 100);
}

TEST_P(GoldenPictures, AreTheSame) {
    const fs::path first = make("first.png", GetParam().frames);
    if (std::getenv("FIRN_WRITE_GOLDEN") && fs::exists(first))
        fs::copy_file(first, kept(), fs::copy_options::overwrite_existing);
    expect_golden(first);
}

TEST_P(GoldenPictures, AreTheSameByNativeCode) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    expect_golden(make("native.png", GetParam().frames, "FIRN_EXECUTOR=native"));
}

}  // namespace
}  // namespace firn
