// The hosts of apps/hosts, as their users run them: what they print, draw and return.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/pattern.h"
#include "tests/tree/shell.h"
#include "tests/window/display.h"

namespace firn {
namespace {

const std::string kPrograms = FIRN_BINARY_DIR "/apps/hosts/";
const std::string kLibrary = FIRN_BINARY_DIR "/lib/libfirn_runtime.so.1";

std::string temporary(const std::string& name) { return testing::TempDir() + name; }

std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A host runs with Vulkan's validation layers, and ends with 0 and without a message of theirs.
void expect_clean(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(has(outcome.output, "\n0 messages of the validation layers")) << outcome.output;
}

class Host : public testing::Test {
  protected:
    static void needs(const std::string& program) {
        if (!std::filesystem::exists(FIRN_BIN_DIR "/" + program))
            GTEST_SKIP() << program << " is not built, since this machine lacks what it needs";
    }
    static void needs_validation() {
        if (!std::filesystem::exists(
                "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"))
            GTEST_SKIP() << "needs vulkan-validationlayers";
    }
};

struct Pixels {
    int width = 0, height = 0;
    std::string bytes;  // red, green, blue
    std::array<int, 3> at(int y, int x) const {
        const size_t at = 3 * (size_t(y) * size_t(width) + size_t(x));
        return {uint8_t(bytes[at]), uint8_t(bytes[at + 1]), uint8_t(bytes[at + 2])};
    }
};

Pixels read_ppm(const std::string& path) {
    Pixels out;
    std::istringstream in(read(path));
    std::string magic;
    int most = 0;
    in >> magic >> out.width >> out.height >> most;
    in.get();
    out.bytes.assign(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(magic, "P6");
    EXPECT_EQ(out.bytes.size(), 3 * size_t(out.width) * size_t(out.height));
    return out;
}

// ---- c_host ----

class CHost : public Host {
  protected:
    void SetUp() override {
        needs("c_host");
        if (!IsSkipped()) needs_validation();
    }
    static Outcome host(const std::string& words) {
        return firn::run("'" FIRN_BIN_DIR "/c_host' " + words);
    }
    /// The picture after a few frames without a window.
    static Pixels drawn(const std::string& words) {
        const std::string path = temporary("drawn.ppm");
        expect_clean(host("--no-window --size 320x240 --frames 6 --validate --picture '" + path +
                          "' " + words));
        return read_ppm(path);
    }
    /// Whether any pixel is brighter than water and stones are.
    static bool has_dye(const Pixels& pixels) {
        return std::any_of(pixels.bytes.begin(), pixels.bytes.end(),
                           [](char c) { return uint8_t(c) > 120; });
    }
};

TEST_F(CHost, PrintsWhatTheProgramNeedsAndDrawsIt) {
    const Outcome outcome = host("--no-window --frames 2 --validate");
    expect_clean(outcome);
    for (const char* part : {"fluid.firn\n", "needs   Vulkan 1.2",
                             "device: ", "  dt = 0.0166667 s [0 to 0.05]", "2 frames of 640 x 480"})
        EXPECT_TRUE(has(outcome.output, part)) << part << "\n" << outcome.output;
}

TEST_F(CHost, ShowsThePictureOnTheCube) {
    const Pixels pixels = drawn("");
    EXPECT_EQ(pixels.width, 320);
    EXPECT_EQ(pixels.height, 240);
    EXPECT_NE(pixels.at(120, 160), pixels.at(2, 2)) << "the cube is in the middle";
    EXPECT_TRUE(has_dye(pixels));
}

TEST_F(CHost, ItsOwnBarriersAreEnough) {
    EXPECT_EQ(drawn("").bytes, drawn("--own-barriers").bytes);
}

TEST_F(CHost, ParametersChangeThePicture) {
    EXPECT_FALSE(has_dye(drawn("--set ink=0"))) << "the brush paints with no ink";
}

TEST_F(CHost, RefusesWithTheReason) {
    const std::string damaged = temporary("damaged.firn");
    std::ofstream(damaged, std::ios::binary) << read(kPrograms + "fluid.firn").substr(0, 1000);
    const std::vector<std::pair<std::string, std::string>> kRefusals{
        {"--no-window none.firn", "there is no file none.firn"},
        {"--no-window '" + damaged + "'", "FIRN_ERROR_FILE: "},
        {"--no-window '" + kPrograms + "wave.firn'",
         "no picture: its last result has to be f32 [h, w, 4], and is [n, m]"},
        {"--no-window --set glow=1", "no parameter 'glow'; it has:\n  time\n  dt\n"},
        {"--no-window --set dt=9", "parameter 'dt' cannot be 9"},
        {"--no-window --set dt=fast", "dt takes 1 number, and got 'fast'"},
        {"--no-window --frames 1 --picture /no/such/folder.ppm", "cannot be written"},
        {"--frames 0", "--frames takes a number above 0"},
        {"--size 0x7", "--size takes WIDTHxHEIGHT"},
        {"--shine", "--shine is no option"}};
    for (const auto& [words, said] : kRefusals) {
        const Outcome outcome = host(words);
        EXPECT_EQ(outcome.status, 1) << words;
        EXPECT_TRUE(has(outcome.output, said)) << words << "\n" << outcome.output;
    }
    const Outcome blind = firn::run("env -u DISPLAY -u WAYLAND_DISPLAY '" FIRN_BIN_DIR "/c_host'");
    EXPECT_EQ(blind.status, 1);
    EXPECT_TRUE(has(blind.output, "no display; set DISPLAY, or run with --no-window"))
        << blind.output;
}

class CHostInAWindow : public CHost {
  protected:
    void SetUp() override {
        CHost::SetUp();
        if (std::system("command -v Xvfb xdotool > /dev/null") != 0)
            GTEST_SKIP() << "needs Xvfb and xdotool";
    }
};

TEST_F(CHostInAWindow, FollowsItsSizeAndKeys) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    // Each command waits for what the one before has changed.
    const std::string log = temporary("window.txt");
    const Outcome hand = firn::run(
        "{ timeout 200 '" FIRN_BIN_DIR "/c_host' --validate > '" + log +
        "' 2>&1 & "
        "named() { timeout 100 xdotool search --sync --onlyvisible --name \"$1\"; }; "
        "id=$(named '^fluid: ') && xdotool windowsize --sync $id 300 200 windowfocus $id && "
        "xdotool key Right Right && named '^fluid: confinement = 2$' && "
        "xdotool key Up && named '^fluid: confinement = 2.6$' && "
        "xdotool windowsize --sync $id 200 300 && xdotool key Escape; "
        "echo the hand ended by $?; wait $!; echo the host ended by $?; }");
    EXPECT_TRUE(has(hand.output, "the hand ended by 0")) << hand.output;
    EXPECT_TRUE(has(hand.output, "the host ended by 0")) << hand.output << read(log);
    EXPECT_TRUE(has(read(log), " frames of 200 x 300\n0 messages of the validation layers"))
        << read(log);
}

TEST_F(CHostInAWindow, DrawsTheSameAsWithout) {
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    const std::string path = temporary("window.ppm");
    expect_clean(host("--size 320x240 --frames 6 --validate --picture '" + path + "'"));
    EXPECT_EQ(read_ppm(path).bytes, drawn("").bytes);
}

// ---- python_host and csharp_host ----

/// The sum of squares of the membrane after the steps that both of these make.
double expected_squares() {
    constexpr int n = 96, m = 160;
    const float dt = 0.3f;
    std::vector<float> u(n * m), v(n * m, 0.0f);
    const auto at = [](int i, int j) {
        return size_t(std::clamp(i, 0, n - 1) * m + std::clamp(j, 0, m - 1));
    };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) {
            const float y = float(i - n / 2), x = float(j - m / 2);
            u[at(i, j)] = std::exp(-0.01f * (y * y + x * x));
        }
    for (int step = 0; step < 100; ++step) {
        const std::vector<float> before = u;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < m; ++j) {
                const float around = before[at(i - 1, j)] + before[at(i + 1, j)] +
                                     before[at(i, j - 1)] + before[at(i, j + 1)];
                v[at(i, j)] += dt * (around - 4 * before[at(i, j)]);
                u[at(i, j)] += dt * v[at(i, j)];
            }
    }
    double sum = 0;
    for (float x : u) sum += double(x) * double(x);
    return sum;
}

void expect_waves(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const size_t found = outcome.output.find("sum of squares ");
    ASSERT_NE(found, std::string::npos) << outcome.output;
    EXPECT_NEAR(std::strtod(outcome.output.c_str() + found + 15, nullptr), expected_squares(), 1e-3)
        << outcome.output;
}

void expect_refusal(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(has(outcome.output, "host: FIRN_ERROR_FILE: ")) << outcome.output;
}

const std::string kPython = FIRN_PYTHON3;
const std::string kPythonHost =
    "'" + kPython + "' apps/hosts/python_host/python_host.py '" + kLibrary + "' ";

class PythonHost : public Host {
  protected:
    void SetUp() override {
        if (std::system(("'" + kPython + "' -c 'import numpy' > /dev/null 2>&1").c_str()) != 0)
            GTEST_SKIP() << "needs Python with numpy";
    }
};

TEST_F(PythonHost, ComputesWhatNumpyComputes) {
    expect_waves(run(kPythonHost + "'" + kPrograms + "wave.firn'"));
}

TEST_F(PythonHost, SaysWhyAFileIsRefused) {
    expect_refusal(run(kPythonHost + "apps/hosts/README.md"));
}

const std::string kCSharpHost =
    "LD_LIBRARY_PATH='" FIRN_BINARY_DIR "/lib' mono '" FIRN_BIN_DIR "/csharp_host.exe' ";

class CSharpHost : public Host {
  protected:
    void SetUp() override { needs("csharp_host.exe"); }
};

TEST_F(CSharpHost, ComputesWhatCSharpComputes) {
    expect_waves(run(kCSharpHost + "'" + kPrograms + "wave.firn'"));
}

TEST_F(CSharpHost, SaysWhyAFileIsRefused) {
    expect_refusal(run(kCSharpHost + "apps/hosts/README.md"));
}

// ---- self_host ----

class SelfHost : public Host {
  protected:
    void SetUp() override {
        needs("self_host");
        if (!IsSkipped()) needs_validation();
    }
};

TEST_F(SelfHost, ComputesTheBitsThatFirnComputes) {
    for (const auto& [name, steps] : {std::pair{"wave", 1}, std::pair{"fluid", 100}}) {
        const Outcome outcome =
            run("'" FIRN_BIN_DIR "/self_host' '" + kPrograms + name + ".firn' --validate");
        expect_clean(outcome);
        EXPECT_TRUE(has(outcome.output, "\n0 of ")) << outcome.output;
        const size_t line = outcome.output.find('\n') + 1;
        EXPECT_GE(std::atoi(outcome.output.c_str() + line), steps) << outcome.output;
    }
}

// ---- placebo_host ----

class PlaceboHost : public Host {
  protected:
    void SetUp() override {
        needs("placebo_host");
        if (!IsSkipped()) needs_validation();
    }
    static Outcome host(const std::string& words) {
        // libplacebo waits for ever where the validation layers have refused a submission.
        return run("timeout 200 '" FIRN_BIN_DIR "/placebo_host' " + words);
    }
};

TEST_F(PlaceboHost, ComputesOnTheDeviceOfLibplacebo) {
    const std::string path = temporary("placebo.ppm");
    const Outcome outcome = host("'" + kPrograms + "edges.firn' '" + path + "' --validate");
    expect_clean(outcome);
    EXPECT_TRUE(has(outcome.output, "\n0 bytes of 4 pictures differ")) << outcome.output;
    const Pixels pixels = read_ppm(path);
    EXPECT_EQ(pixels.width, 640);
    EXPECT_EQ(pixels.at(60, 60), (std::array{0, 0, 0})) << "inside of a square is no edge";
    EXPECT_GT(pixels.at(60, 119)[0], 60) << "squares of 60 pixels end here";
}

TEST_F(PlaceboHost, SaysWhyAFileIsRefused) {
    const Outcome outcome = host("apps/hosts/README.md");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(has(outcome.output, "FIRN_ERROR_FILE: ")) << outcome.output;
}

// ---- gst_element ----

class GstElement : public Host {
  protected:
    void SetUp() override {
        if (!std::filesystem::exists(FIRN_BINARY_DIR "/lib/gstreamer-1.0/libgstfirnfilter.so"))
            GTEST_SKIP() << "gst_element is not built, since this machine lacks what it needs";
        if (std::system("gst-inspect-1.0 vulkanupload > /dev/null 2>&1 && "
                        "gst-inspect-1.0 videotestsrc > /dev/null 2>&1") != 0)
            GTEST_SKIP() << "needs gstreamer1.0-tools, and its plugins base and bad";
    }
    static Outcome launch(const std::string& pipeline) {
        // --no-fault: a crash ends the process, which waits for a debugger for ever else.
        return run("GST_PLUGIN_PATH='" FIRN_BINARY_DIR "/lib/gstreamer-1.0' GST_REGISTRY='" +
                   temporary("registry.bin") + "' timeout 200 gst-launch-1.0 --no-fault -q " +
                   pipeline);
    }
};

TEST_F(GstElement, FiltersVideoByteByByte) {
    constexpr int width = 160, height = 96, frames = 5;
    const std::string raw = temporary("raw.rgba"), filtered = temporary("filtered.rgba");
    const Outcome outcome = launch(
        "videotestsrc pattern=ball animation-mode=frames num-buffers=" + std::to_string(frames) +
        " ! video/x-raw,format=RGBA,width=" + std::to_string(width) +
        ",height=" + std::to_string(height) + " ! tee name=t ! queue ! filesink location='" + raw +
        "' t. ! queue ! vulkanupload ! firnfilter program='" + kPrograms +
        "edges.firn' parameters=strength=3 ! vulkandownload ! filesink location='" + filtered +
        "'");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const std::string in = read(raw), out = read(filtered);
    ASSERT_EQ(in.size(), size_t(4 * width * height * frames)) << outcome.output;
    ASSERT_EQ(out.size(), in.size()) << outcome.output;
    size_t different = 0, edges = 0;
    for (int frame = 0; frame < frames; ++frame)
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                for (int c = 0; c < 4; ++c) {
                    const auto at = [&](int i, int j) {
                        return 4 * size_t((frame * height + std::min(i, height - 1)) * width +
                                          std::min(j, width - 1)) +
                               size_t(c);
                    };
                    const int here = uint8_t(in[at(y, x)]);
                    const int edge = std::abs(uint8_t(in[at(y + 1, x)]) - here) +
                                     std::abs(uint8_t(in[at(y, x + 1)]) - here);
                    const int expected = c == 3 ? here : std::min(3 * edge, 255);
                    different += uint8_t(out[at(y, x)]) != expected;
                    edges += c < 3 && expected > 0;
                }
    EXPECT_EQ(different, 0u);
    EXPECT_GT(edges, 100u) << "the ball has a rim";
}

TEST_F(GstElement, PostsWhatIsWrong) {
    const std::string
        before =
            "videotestsrc num-buffers=1 ! video/x-raw,format=RGBA ! vulkanupload ! firnfilter ",
        behind = " ! vulkandownload ! fakesink";
    const std::vector<std::pair<std::string, std::string>> kMistakes{
        {"", "set the property program to a file"},
        {"program=none.firn", "none.firn"},
        {"program=apps/hosts/README.md", "FIRN_ERROR_FILE: "},
        {"program='" + kPrograms + "wave.firn'", "wave.firn is no filter"},
        {"program='" + kPrograms + "edges.firn' parameters=glow=1", "no parameter 'glow=1'"},
        {"program='" + kPrograms + "edges.firn' parameters=strength=99",
         "'strength' cannot be 99"}};
    for (const auto& [words, said] : kMistakes) {
        const Outcome outcome = launch(before + words + behind);
        EXPECT_NE(outcome.status, 0) << words;
        EXPECT_TRUE(has(outcome.output, said)) << words << "\n" << outcome.output;
    }
}

// ---- qt_host ----

class QtHostInAWindow : public CHostInAWindow {
  protected:
    void SetUp() override {
        CHostInAWindow::SetUp();
        if (IsSkipped()) return;
        needs("qt_host");
        ASSERT_TRUE(display_.works());
    }
    static std::string command(const std::string& words) {
        return "QT_QPA_PLATFORM=xcb timeout 60 '" FIRN_BIN_DIR "/qt_host' --validate " + words;
    }
    /// The picture of the program, which fills the height of the window at its left.
    static Pixels shown(const std::string& path) {
        const Pixels window = read_ppm(path);
        Pixels out{window.height, window.height, ""};
        for (int y = 0; y < out.height; ++y)
            out.bytes +=
                window.bytes.substr(3 * size_t(y) * size_t(window.width), 3 * size_t(out.width));
        return out;
    }

  private:
    VirtualDisplay display_;
};

TEST_F(QtHostInAWindow, ShowsThePictureOnTheDeviceOfQt) {
    const std::string path = temporary("qt.ppm");
    expect_clean(firn::run(command("--frames 4 --picture '" + path + "'")));
    const Pixels pixels = shown(path);
    EXPECT_TRUE(has_dye(pixels));
    EXPECT_NE(pixels.at(0, 0), (std::array<int, 3>{0x16, 0x19, 0x1d})) << "water hides the window";
}

TEST_F(QtHostInAWindow, ItsSlidersChangeThePicture) {
    const std::string path = temporary("qt.ppm"), log = temporary("qt.txt");
    expect_clean(firn::run(command("--frames 4 --set ink=0 --picture '" + path + "'")));
    EXPECT_FALSE(has_dye(shown(path)));
    // The fifth slider is that of the ink.
    const Outcome hand =
        firn::run("{ " + command("--set ink=0 --picture '" + path + "'") + " > '" + log +
                  "' 2>&1 & "
                  "id=$(timeout 100 xdotool search --sync --onlyvisible --name '^qt_host$') && "
                  "xdotool windowfocus --sync $id windowsize --sync $id 700 400 && sleep 1 && "
                  "xdotool key Tab Tab Tab Tab Tab Right Right Right Right Right && sleep 1 && "
                  "xdotool key Escape; wait $!; echo the host ended by $?; }");
    EXPECT_TRUE(has(hand.output, "the host ended by 0")) << hand.output << read(log);
    EXPECT_TRUE(has(read(log), " frames of 700 x 400\n0 messages of the validation layers"))
        << read(log);
    EXPECT_TRUE(has_dye(shown(path)));
}

TEST_F(QtHostInAWindow, RefusesWithTheReason) {
    const std::vector<std::pair<std::string, std::string>> kRefusals{
        {"none.firn", "qt_host: there is no file none.firn"},
        {"apps/hosts/README.md", "FIRN_ERROR_FILE: "},
        {"'" + kPrograms + "wave.firn'", "its last result has to be f32 [h, w, 4], and is [n, m]"},
        {"--set glow=1", "no parameter 'glow' of one number; it has:\n  confinement\n"},
        {"--set dt=9", "parameter 'dt' cannot be 9"},
        {"--frames 0", "--frames takes a number above 0"}};
    for (const auto& [words, said] : kRefusals) {
        const Outcome outcome = firn::run(command(words));
        EXPECT_EQ(outcome.status, 1) << words;
        EXPECT_TRUE(has(outcome.output, said)) << words << "\n" << outcome.output;
        EXPECT_FALSE(has(outcome.output, "validation: ")) << words << "\n" << outcome.output;
    }
}

// ---- All of them ----

TEST(Hosts, KnowNothingOfFirnButItsInterface) {
    int sources = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(FIRN_SOURCE_DIR "/apps/hosts")) {
        const std::string ending = entry.path().extension().string();
        if (ending != ".c" && ending != ".h") continue;
        ++sources;
        const std::string text = read(entry.path().string());
        each_match(
            text, "#[ ]*include[ ]*[<\"]([^>\"]+)[>\"]",
            [&](size_t, size_t, const std::string& name) {
                EXPECT_FALSE(has(name, "engine/") || has(name, "compiler/") || has(name, "firn/"))
                    << entry.path() << " includes " << name;
            });
    }
    EXPECT_GE(sources, 5);
    for (const char* name : {"c_host", "self_host", "placebo_host"}) {
        const std::string path = FIRN_BIN_DIR "/" + std::string(name);
        if (!std::filesystem::exists(path)) continue;
        const std::string needed = run("objdump -p '" + path + "'").output;
        EXPECT_TRUE(has(needed, "NEEDED               libfirn_runtime.so.1")) << needed;
        EXPECT_FALSE(has(needed, "NEEDED               libstdc++")) << needed;
    }
}

}  // namespace
}  // namespace firn
