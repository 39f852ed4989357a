// The plugins for engines of apps/hosts, run by the stand-ins of these engines.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/tree/shell.h"

namespace firn {
namespace {

class EnginePlugin : public testing::Test {
  protected:
    void SetUp() override {
        if (!std::filesystem::exists(
                "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"))
            GTEST_SKIP() << "needs vulkan-validationlayers";
    }
    /// Runs a stand-in with a plugin, and expects each of these lines.
    static void expect_lines(const std::string& command, const std::vector<std::string>& lines) {
        const Outcome outcome = run(command);
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        for (const std::string& line : lines)
            EXPECT_NE(outcome.output.find("\n" + line + "\n"), std::string::npos) << line << "\n"
                                                                                  << outcome.output;
    }
};

const std::string kHosts = "'" FIRN_BINARY_DIR "/apps/hosts/";
const std::string kUnity = "'" FIRN_BIN_DIR "/unity_stand_in' '" FIRN_BINARY_DIR
                           "/lib/libfirn_unity.so' " +
                           kHosts + "wave.firn' ";

TEST_F(EnginePlugin, OfUnityRunsInItsOwnCommandsBetweenThoseOfTheFrame) {
    expect_lines(kUnity,
                 {"40 frames compared, 20 callbacks at once, 20 later", "0 errors of the plugin",
                  "0 rules broken; the plugin is unloaded", "0 messages of the validation layers"});
}

TEST_F(EnginePlugin, OfUnityRecordsIntoTheCommandsOfTheFrame) {
    expect_lines(kUnity + "--into-unitys-commands",
                 {"40 frames compared, 0 callbacks at once, 0 later", "0 errors of the plugin",
                  "0 rules broken; the plugin is unloaded", "0 messages of the validation layers"});
}

const std::string kGodot =
    "'" FIRN_BIN_DIR "/godot_stand_in' '" FIRN_BINARY_DIR "/lib/libfirn_godot.so' " + kHosts;
const std::vector<std::string> kGodotLines{"0 objects left; the extension is unloaded",
                                           "0 rules broken", "0 messages of the validation layers"};

std::vector<std::string> with_bytes(const std::string& line) {
    std::vector<std::string> out = kGodotLines;
    out.push_back(line);
    return out;
}

TEST_F(EnginePlugin, OfGodotComputesTheBitsThatFirnComputes) {
    expect_lines(kGodot + "wave.firn' --version=4.4", with_bytes("0 of 98304 bytes differ"));
    expect_lines(kGodot + "fluid.firn' --version=4.4", with_bytes("0 of 1966080 bytes differ"));
}

TEST_F(EnginePlugin, OfGodotPushesTheSizesOfNewerVersionsAndSubmitsNothingOnTheMainDevice) {
    expect_lines(kGodot + "wave.firn' --version=4.7", with_bytes("0 of 98304 bytes differ"));
    expect_lines(kGodot + "fluid.firn' --version=4.7 --main-device",
                 with_bytes("0 of 1966080 bytes differ"));
}

}  // namespace
}  // namespace firn
