// The reference of the public headers can be made: every comment finds its place, every function
// has one, and the functions of tensors have examples, which tests/examples runs.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/tree/shell.h"

namespace firn {
namespace {

bool has_doxygen() { return run("command -v doxygen").status == 0; }

const std::string& folder() {
    static const std::string out = ::testing::TempDir() + "firn_reference";
    return out;
}
const Outcome& made() {
    static const Outcome out = run("apps/reference '" + folder() + "'");
    return out;
}

TEST(Reference, HasEveryFunctionAndType) {
    if (!has_doxygen()) GTEST_SKIP() << "doxygen is not installed";
    EXPECT_EQ(made().status, 0) << made().output;
    // A function of each header that users include.
    for (const char* name : {"eigh", "median_filter", "cross_entropy", "save_image"})
        EXPECT_EQ(
            run("grep -rqw --include='*_8h.html' " + std::string(name) + " '" + folder() + "'")
                .status,
            0)
            << name << " is not in the reference";
}

/// Free functions of the namespace, by doxygen's XML; operators have their meaning from C++.
std::set<std::string> functions() {
    std::set<std::string> out;
    std::ifstream in(folder() + "/xml/namespacefirn.xml");
    bool function = false;
    for (std::string line; std::getline(in, line);) {
        if (line.find("<memberdef ") != line.npos)
            function = line.find("kind=\"function\"") != line.npos;
        const size_t at = line.find("<name>");
        if (!function || at == line.npos) continue;
        const std::string name = line.substr(at + 6, line.find('<', at + 6) - at - 6);
        if (name.compare(0, 8, "operator")) out.insert(name);
    }
    return out;
}

/// The words of all examples.
std::set<std::string> words_of_examples() {
    const Outcome all = run(
        "awk -v group=all -f tests/examples/examples.awk "
        "compiler/frontend/*.h compiler/algorithms/*.h compiler/learning/*.h compiler/files/*.h "
        "compiler/interchange/*.h compiler/program/*.h engine/firn/*.h");
    EXPECT_EQ(all.status, 0) << all.output;
    std::set<std::string> out;
    std::string word;
    for (char c : all.output) {
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '_')
            word += c;
        else if (!word.empty())
            out.insert(word), word.clear();
    }
    return out;
}

TEST(Reference, EveryFunctionHasAnExample) {
    if (!has_doxygen()) GTEST_SKIP() << "doxygen is not installed";
    ASSERT_EQ(made().status, 0) << made().output;
    const std::set<std::string> words = words_of_examples(), names = functions();
    EXPECT_GT(names.size(), 300u);
    for (const std::string& name : names)
        EXPECT_TRUE(words.count(name)) << name << " has no example in its comment";
}

}  // namespace
}  // namespace firn
