// The picture of every demo, small and after a few frames, against the one that is kept in golden/:
// equal bytes from run to run, and near it on any device. FIRN_WRITE_GOLDEN=1 writes them anew.
#include <firn/firn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

#include "tests/tree/shell.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// Few frames, since flows and bodies are chaotic: what rounds otherwise must not have grown yet.
struct Demo {
    const char* name;
    const char* arguments;
    friend std::ostream& operator<<(std::ostream& out, const Demo& demo) {
        return out << demo.name;
    }
};
const Demo kDemos[]{
    {"fluid", "--frames 12"},
    {"wave", "--frames 60"},
    {"heat", "--frames 20"},
    {"particles", "--frames 3"},
    {"n_body", "--frames 3 --set bodies=2000"},
    {"path_tracer", "--frames 2"},
    {"mandelbrot", "--frames 2"},
    {"buddhabrot", "--frames 4"},
    {"reaction_diffusion", "--frames 150"},
    {"life", "--frames 40"},
    {"filters", "--frames 1"},
    {"train_image", "--frames 3"},
    {"train_digits", "--frames 2"},
    {"neural_ca", "--frames 1"},
    {"char_model",  // of a text that does not change
     "--frames 1 --set context=16 --set width=16 --set layers=1 --text " FIRN_SOURCE_DIR
     "/LICENSE"},
    {"fluid_control", "--frames 1 --set flow_steps=8"},
};

std::string bytes_of_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class GoldenPictures : public testing::TestWithParam<Demo> {
  protected:
    static fs::path make(const char* which) {
        const fs::path out = fs::path(testing::TempDir()) /
                             ("golden_" + std::string(GetParam().name) + "_" + which + ".png");
        fs::remove(out);
        const Outcome made = run("'" FIRN_BIN_DIR "/" + std::string(GetParam().name) +
                                 "' --headless --quiet --size 96x54 --seed 7 " +
                                 GetParam().arguments + " --out '" + out.string() + "'");
        EXPECT_EQ(made.status, 0) << made.output;
        return out;
    }
};
INSTANTIATE_TEST_SUITE_P(Demos, GoldenPictures, testing::ValuesIn(kDemos),
                         [](const auto& demo) { return std::string(demo.param.name); });

TEST_P(GoldenPictures, AreTheSame) {
    if (run(FIRN_BIN_DIR "/wave --list-devices").status != 0) GTEST_SKIP() << "no Vulkan driver";
    const fs::path first = make("first");
    ASSERT_TRUE(fs::exists(first));
    EXPECT_TRUE(bytes_of_file(first) == bytes_of_file(make("second"))) << "two runs differ";
    const fs::path golden =
        fs::path(FIRN_SOURCE_DIR) / "tests/apps/golden" / (std::string(GetParam().name) + ".png");
    if (std::getenv("FIRN_WRITE_GOLDEN"))
        fs::copy_file(first, golden, fs::copy_options::overwrite_existing);
    ASSERT_TRUE(fs::exists(golden)) << "FIRN_WRITE_GOLDEN=1 writes it";
    SessionScope scope(Session::oracle());
    const Tensor got = load_image(first.string()), expected = load_image(golden.string());
    ASSERT_EQ(got.shape(), expected.shape());
    // Of 255: on average less than one; more than 16 in a hundredth of the values, where an edge
    // or a point lies a pixel further.
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

}  // namespace
}  // namespace firn
