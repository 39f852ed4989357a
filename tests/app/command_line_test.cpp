// The command line of programs with a window: values, and messages.
#include "engine/app/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace firn {
namespace {

CommandLine parse(std::vector<std::string> arguments) {
    static const Parameters none;
    arguments.insert(arguments.begin(), "demo");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    CommandLineSpec spec{"demo", "A demo.", {320, 200}, 7, &none, {}, "", "2.1"};
    return parse_command_line(static_cast<int>(argv.size()), argv.data(), spec);
}
CommandLineEnd end_of(std::vector<std::string> arguments) {
    try {
        parse(std::move(arguments));
    } catch (const CommandLineEnd& end) {
        return end;
    }
    return {-1, "went on"};
}

TEST(CommandLineOf, NothingIsTheDemosOwnSize) { EXPECT_EQ(parse({}).size.width, 320); }
TEST(CommandLineOf, SizeIsWidthByHeight) {
    CommandLine line = parse({"--size", "640x360"});
    EXPECT_EQ(line.size.width, 640);
    EXPECT_EQ(line.size.height, 360);
}
TEST(CommandLineOf, AHeadlessRunEndsByItself) { EXPECT_EQ(parse({"--headless"}).frames, 7); }
TEST(CommandLineOf, FramesAreKeptWhenHeadless) {
    EXPECT_EQ(parse({"--headless", "--frames", "3"}).frames, 3);
}
TEST(CommandLineOf, SetMayBeGivenSeveralTimes) {
    CommandLine line = parse({"--set", "a=1", "--set", "b=x=y"});
    ASSERT_EQ(line.sets.size(), 2u);
    EXPECT_EQ(line.sets[1].first, "b");
    EXPECT_EQ(line.sets[1].second, "x=y");
}
TEST(CommandLineOf, HelpEndsWell) {
    CommandLineEnd end = end_of({"--help"});
    EXPECT_EQ(end.status, 0);
    EXPECT_NE(end.text.find("--headless"), std::string::npos);
}
/// No line of the help refers to another one.
TEST(CommandLineOf, EveryLineOfTheHelpCanBeReadAlone) {
    std::istringstream help(end_of({"--help"}).text);
    int options = 0;
    for (std::string line; std::getline(help, line);) {
        options += line.find("  -") == 0;
        for (const char* word :
             {"above", "below", "likewise", "ditto", "the same", "this option", "film"})
            EXPECT_EQ(line.find(word), std::string::npos) << line;
    }
    EXPECT_GT(options, 15);
}
TEST(CommandLineOf, AnUnknownFlagIsNamed) {
    CommandLineEnd end = end_of({"--spede", "3"});
    EXPECT_EQ(end.status, 2);
    EXPECT_NE(end.text.find("--spede"), std::string::npos);
}
TEST(CommandLineOf, ASizeOfZeroIsRefused) { EXPECT_EQ(end_of({"--size", "0x20"}).status, 2); }
TEST(CommandLineOf, ASizeWithTextBehindItIsRefused) {
    EXPECT_NE(end_of({"--size", "20x20y"}).text.find("such as 1280x720"), std::string::npos);
}
TEST(CommandLineOf, NegativeFramesAreRefused) { EXPECT_EQ(end_of({"--frames", "-1"}).status, 2); }
TEST(CommandLineOf, AnOutputOfUnknownKindIsRefused) {
    EXPECT_NE(end_of({"--out", "f.bmp"}).text.find("must end in .png, .jpg, .exr, .hdr or .npy"),
              std::string::npos);
}
TEST(CommandLineOf, AnOutputIsOfTheKindOfItsEnding) {
    using Kind = OutputFile::Kind;
    for (auto [name, kind] : {std::pair{"f.PNG", Kind::Picture},
                              {"f.jpg", Kind::Picture},
                              {"f.exr", Kind::Light},
                              {"f.hdr", Kind::Light},
                              {"f.npy", Kind::Npy},
                              {"f.mp4", Kind::Video},
                              {"f.gif", Kind::Gif}})
        EXPECT_EQ(parse({"--out", name}).out.kind, kind) << name;
}
TEST(CommandLineOf, ANumberMakesASequence) {
    const OutputFile out = parse({"--out", "f_%04d.png"}).out;
    EXPECT_TRUE(out.sequence);
    EXPECT_EQ(frame_path(out, 37), "f_0037.png");
    EXPECT_EQ(frame_path(parse({"--out", "%d.jpg"}).out, 12345), "12345.jpg");
}
TEST(CommandLineOf, APercentSignThatIsNoNumberIsRefused) {
    for (const char* name : {"f%.png", "f_%s.png", "%d_%d.png", "f_%00d.png", "f_%03d.gif"})
        EXPECT_EQ(end_of({"--out", name}).status, 2) << name;
}
TEST(CommandLineOf, EveryIsForFramesThatAreWrittenAsTheyCome) {
    EXPECT_EQ(parse({"--every", "3", "--out", "f.gif"}).every, 3);
    EXPECT_NE(end_of({"--every", "3", "--out", "f.png"})
                  .text.find("--every needs an --out that saves all frames"),
              std::string::npos);
    EXPECT_EQ(end_of({"--every", "0", "--out", "f.gif"}).status, 2);
    EXPECT_EQ(parse({"--out", "f.gif"}).video_rate, 60);
    EXPECT_EQ(parse({"--video-rate", "2.5", "--out", "f.gif"}).video_rate, 2.5);
    EXPECT_EQ(end_of({"--video-rate", "0", "--out", "f.gif"}).status, 2);
}
TEST(CommandLineOf, VersionsAreFirnsAndTheProgramsOwn) {
    const CommandLineEnd end = end_of({"--version"});
    EXPECT_EQ(end.status, 0);
    EXPECT_TRUE(end.text.starts_with("demo 2.1 (Firn ")) << end.text;
}
TEST(CommandLineOf, ScalesAndRatesHaveLimits) {
    EXPECT_EQ(parse({"--scale", "1.5"}).scale, 1.5f);
    EXPECT_EQ(end_of({"--scale", "0"}).status, 2);
    EXPECT_EQ(parse({"--fps-limit", "0"}).fps_limit, 0);
    EXPECT_EQ(end_of({"--fps-limit", "-1"}).status, 2);
}
TEST(CommandLineOf, VsyncIsOnUntilItIsSwitchedOff) {
    EXPECT_TRUE(parse({}).vsync);
    EXPECT_FALSE(parse({"--vsync=false"}).vsync);
    EXPECT_TRUE(parse({"--vsync"}).vsync);
}
TEST(CommandLineOf, AFolderForDumpsIsMadeOrRefused) {
    const std::string folder = testing::TempDir() + "/firn_dumps/here";
    std::filesystem::remove_all(folder);
    EXPECT_EQ(parse({"--dump", folder}).dump, folder);
    EXPECT_TRUE(std::filesystem::is_directory(folder));
    EXPECT_EQ(end_of({"--dump", "/proc/none"}).status, 2);
}
TEST(CommandLineOf, APresetIsWrittenAsJson) {
    EXPECT_EQ(end_of({"--save-preset", "p.txt"}).status, 2);
    EXPECT_NE(end_of({"--save-preset", "/proc/p.json"}).text.find("no file can be written"),
              std::string::npos);
}
TEST(CommandLineOf, AnOutputInNoFolderIsRefused) {
    EXPECT_NE(end_of({"--out", "no/such/f.png"}).text.find("there is no such folder: no/such"),
              std::string::npos);
}
TEST(CommandLineOf, AnOutputWhereNothingCanBeWrittenIsRefused) {
    EXPECT_NE(end_of({"--out", "/proc/f.png"}).text.find("no file can be written in /proc"),
              std::string::npos);
    EXPECT_NE(end_of({"--profile", "/proc/f.json"}).text.find("no file can be written in /proc"),
              std::string::npos);
}
TEST(CommandLineOf, AnOutputThatIsAFolderIsRefused) {
    const std::string folder = testing::TempDir() + "/folder.png";
    std::filesystem::create_directory(folder);
    EXPECT_NE(end_of({"--out", folder}).text.find("this is a folder"), std::string::npos);
    std::filesystem::remove(folder);
}
TEST(CommandLineOf, TryingToWriteLeavesNothing) {
    const std::string folder = testing::TempDir() + "/tried";
    std::filesystem::create_directory(folder);
    parse({"--out", folder + "/f.png"});
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    std::filesystem::remove(folder);
}
TEST(CommandLineOf, AFileThatTheProgramWritesIsTriedToo) {
    static const Parameters none;
    std::string hdr;
    std::vector<std::string> words{"demo", "--hdr", "/proc/f.hdr"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    CommandLineSpec spec{"demo", "A demo.", {320, 200}, 7, &none, {{"hdr", "a file", &hdr, true}}};
    EXPECT_THROW(parse_command_line(3, argv.data(), spec), CommandLineEnd);
}
TEST(CommandLineOf, ASetWithoutAValueIsRefused) { EXPECT_EQ(end_of({"--set", "dt"}).status, 2); }
TEST(CommandLineOf, AMissingPresetIsRefused) {
    EXPECT_EQ(end_of({"--preset", "none.json"}).status, 2);
}

/// The settings that a demo with a checkbox and two sliders is asked for.
std::vector<std::pair<std::string, std::string>> sets_of(std::vector<std::string> arguments) {
    bool stats = false, gui = false;
    float dt = 0;
    Parameters parameters;
    parameters.add({.name = "stats", .help = "", .variable = &stats});
    parameters.add({.name = "gui", .help = "", .variable = &gui});
    parameters.add({.name = "time step", .help = "", .variable = &stats});
    parameters.add({.name = "dt", .help = "", .variable = &dt});
    arguments.insert(arguments.begin(), "demo");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    CommandLineSpec spec{"demo", "A demo.", {320, 200}, 7, &parameters, {}};
    return parse_command_line(static_cast<int>(argv.size()), argv.data(), spec).sets;
}
using Sets = std::vector<std::pair<std::string, std::string>>;

TEST(ParameterFlags, ACheckboxIsAFlag) {
    EXPECT_EQ(sets_of({"--stats"}), (Sets{{"stats", "true"}}));
}
TEST(ParameterFlags, AFlagMayBeSwitchedOff) {
    EXPECT_EQ(sets_of({"--stats=false"}), (Sets{{"stats", "false"}}));
}
TEST(ParameterFlags, SetComesAfterFlags) {
    EXPECT_EQ(sets_of({"--set", "stats=false", "--stats"}),
              (Sets{{"stats", "true"}, {"stats", "false"}}));
}
TEST(ParameterFlags, AreNotSetByOthers) { EXPECT_TRUE(sets_of({"--gui"}).empty()); }
TEST(ParameterFlags, ANumberTakesItsValue) {
    EXPECT_EQ(sets_of({"--dt", "0.5"}), (Sets{{"dt", "0.5"}}));
    EXPECT_EQ(sets_of({"--dt=-1"}), (Sets{{"dt", "-1"}}));
    EXPECT_THROW(sets_of({"--dt"}), CommandLineEnd);
    EXPECT_THROW(sets_of({"--stat"}), CommandLineEnd);
}
CommandLine parse_devices(const std::string& list, int most) {
    static const Parameters none;
    std::string name = "demo", flag = "--device", value = list;
    char* argv[] = {name.data(), flag.data(), value.data()};
    CommandLineSpec spec{"demo", "A demo.", {320, 200}, 7, &none};
    spec.devices = most;
    return parse_command_line(3, argv, spec);
}
std::string refusal_of_devices(const std::string& list, int most) {
    try {
        parse_devices(list, most);
    } catch (const CommandLineEnd& end) {
        return end.status == 2 ? end.text : "ended well";
    }
    return "went on";
}

TEST(CommandLineOf, SeveralDevicesAreAListForProgramsThatUseThem) {
    const CommandLine line = parse_devices("cpu,0,llvm", 3);
    EXPECT_EQ(line.device, "cpu");
    EXPECT_EQ(line.other_devices, (std::vector<std::string>{"0", "llvm"}));
    EXPECT_TRUE(parse_devices("cpu", 3).other_devices.empty());
}

TEST(CommandLineOf, MoreDevicesThanAProgramUsesAreRefused) {
    EXPECT_EQ(refusal_of_devices("cpu,0", 1),
              "--device cpu,0: 2 devices are listed, and this program uses one; name one");
    EXPECT_EQ(refusal_of_devices("cpu,0,1", 2),
              "--device cpu,0,1: 3 devices are listed, and this program uses at most 2");
}

TEST(CommandLineOf, ADeviceWithoutANameIsRefused) {
    for (const char* list : {"cpu,", ",0", "cpu,,0", ","})
        EXPECT_NE(refusal_of_devices(list, 4).find("has no name"), std::string::npos) << list;
}

TEST(CommandLineOf, HelpSaysHowManyDevicesAProgramUses) {
    static const Parameters none;
    std::string name = "demo", flag = "--help";
    char* argv[] = {name.data(), flag.data()};
    CommandLineSpec spec{"demo", "A demo.", {320, 200}, 7, &none};
    const auto help = [&] {
        try {
            parse_command_line(2, argv, spec);
        } catch (const CommandLineEnd& end) {
            return end.text;
        }
        return std::string();
    };
    EXPECT_EQ(help().find("at once"), std::string::npos);
    spec.devices = 3;
    EXPECT_NE(help().find("up to 3 at once"), std::string::npos);
}

}  // namespace
}  // namespace firn
