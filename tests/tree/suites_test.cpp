// How tests/suites.cmake deals the tests of a suite to processes of ctest.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tree/shell.h"

namespace firn {
namespace {

/// What ctest reads of a suite of `tests`.
std::string written(const std::vector<std::string>& tests) {
    const std::string folder = testing::TempDir() + "suites_test";
    std::ofstream script(folder + ".cmake");
    script << "include(" FIRN_SOURCE_DIR "/tests/suites.cmake)\nset(written " << folder
           << ")\nset(added \"\")\nfirn_add_processes(added folder.Suite program LABELS";
    for (const std::string& test : tests) script << ' ' << test;
    script << ")\nmessage(\"${added}\")\n";
    script.close();
    const Outcome outcome = run("cmake -P '" + folder + ".cmake'");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return outcome.output;
}

/// The tests of each process that ctest starts for it.
std::vector<std::vector<std::string>> dealt(const std::vector<std::string>& tests) {
    const std::string text = written(tests);
    std::vector<std::vector<std::string>> out;
    const std::string before = "--gtest_filter=";
    for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
        at += before.size();
        const std::string filter = text.substr(at, text.find(']', at) - at);
        std::vector<std::string>& process = out.emplace_back();
        for (size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
            to = filter.find(':', from);
            process.push_back(filter.substr(from, to - from));
        }
    }
    return out;
}

/// The names of these processes.
std::vector<std::string> names(const std::string& text) {
    std::vector<std::string> out;
    const std::string before = "add_test([==[";
    for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
        at += before.size();
        out.push_back(text.substr(at, text.find(']', at) - at));
    }
    return out;
}

void expect_each_once(const std::vector<std::vector<std::string>>& processes,
                      const std::vector<std::string>& tests) {
    std::multiset<std::string> all;
    for (const auto& process : processes) all.insert(process.begin(), process.end());
    EXPECT_EQ(all, std::multiset<std::string>(tests.begin(), tests.end()));
}

/// Tests `Suite.T0/p0`, `Suite.T0/p1` ..., as GoogleTest lists them.
std::vector<std::string> of_parameters(int tests, int parameters) {
    std::vector<std::string> out;
    for (int t = 0; t < tests; ++t)
        for (int p = 0; p < parameters; ++p)
            out.push_back("Suite.T" + std::to_string(t) + "/p" + std::to_string(p));
    return out;
}

TEST(Suites, EachTestIsInOneProcess) {
    std::vector<std::string> tests;
    for (int t = 0; t < 45; ++t) tests.push_back("Suite.T" + std::to_string(t));
    const auto processes = dealt(tests);
    ASSERT_EQ(processes.size(), 3u);
    for (const auto& process : processes) EXPECT_EQ(process.size(), 15u);
    expect_each_once(processes, tests);
    EXPECT_EQ(dealt({"Suite.T"}), std::vector<std::vector<std::string>>{{"Suite.T"}});
}

/// At a space ctest ends the name in its record of times, by which it starts the longest first.
TEST(Suites, NamesOfProcessesHaveNoSpaces) {
    std::vector<std::string> tests;
    for (int t = 0; t < 45; ++t) tests.push_back("Suite.T" + std::to_string(t));
    EXPECT_EQ(
        names(written(tests)),
        (std::vector<std::string>{"folder.Suite-1/3", "folder.Suite-2/3", "folder.Suite-3/3"}));
}

TEST(Suites, TestsOfAParameterShareAProcess) {
    const std::vector<std::string> tests = of_parameters(3, 16);
    const auto processes = dealt(tests);
    EXPECT_EQ(processes.size(), 3u);
    expect_each_once(processes, tests);
    std::map<std::string, size_t> process_of;
    for (size_t k = 0; k < processes.size(); ++k)
        for (const std::string& test : processes[k])
            EXPECT_EQ(process_of.emplace(test.substr(test.find('/')), k).first->second, k) << test;
}

TEST(Suites, OfFewParametersAreDealtAlone) {
    const std::vector<std::string> tests = of_parameters(30, 2);
    const auto processes = dealt(tests);
    ASSERT_EQ(processes.size(), 3u);
    for (const auto& process : processes) EXPECT_EQ(process.size(), 20u);
    expect_each_once(processes, tests);
}

}  // namespace
}  // namespace firn
