// The layout of every struct of the C interface stays as programs know it that were compiled
// before.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace firn {
namespace {

const std::string kKept = FIRN_SOURCE_DIR "/tests/c/abi.txt";

std::string text_of(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// A program in C that prints where each member of each struct lies, and the value of each number.
std::string printing_program() {
    const std::string header =
        std::regex_replace(text_of(FIRN_SOURCE_DIR "/engine/c/firn.h"),
                           std::regex("/\\*[^*]*\\*+([^/*][^*]*\\*+)*/"), "");
    std::string body;
    const std::regex structs("typedef struct (firn_[a-z_]+) \\{([^}]*)\\}"),
        members("\\*?([a-z_]+)(\\[[A-Z_0-9]+\\])?(?=[,;])|\\(\\*([a-z_]+)\\)"),
        numbers("#define (FIRN_[A-Z0-9_]+) [-(0-9]");
    for (std::sregex_iterator at(header.begin(), header.end(), structs), end; at != end; ++at) {
        const std::string name = (*at)[1];
        // Arguments of callbacks are no members.
        const std::string all =
            std::regex_replace((*at)[2].str(), std::regex("\\)\\([^)]*\\)"), ")");
        for (std::sregex_iterator member(all.begin(), all.end(), members); member != end;
             ++member) {
            const std::string field = (*member)[1].matched ? (*member)[1] : (*member)[3];
            body += "    printf(\"" + name + "." + field + " %zu %zu\\n\", offsetof(" + name +
                    ", " + field + "), sizeof(((" + name + "*)0)->" + field + "));\n";
        }
    }
    for (std::sregex_iterator at(header.begin(), header.end(), numbers), end; at != end; ++at)
        body += "    printf(\"" + (*at)[1].str() + " %d\\n\", (int)" + (*at)[1].str() + ");\n";
    return "#include <firn.h>\n#include <stdio.h>\nint main(void) {\n" + body +
           "    return 0;\n}\n";
}

TEST(CLayout, IsTheOneThatOlderProgramsKnow) {
    const std::string folder = testing::TempDir() + "firn_abi";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/print.c") << printing_program();
    ASSERT_EQ(std::system(("gcc -std=c99 -Wall -Werror -I" FIRN_SOURCE_DIR "/engine/c " + folder +
                           "/print.c -o " + folder + "/print && " + folder + "/print > " + folder +
                           "/now.txt")
                              .c_str()),
              0);
    const std::string now = text_of(folder + "/now.txt");
    if (std::getenv("FIRN_WRITE_GOLDEN")) std::ofstream(kKept) << now;
    const std::vector<std::string> found = lines_of(now), kept = lines_of(text_of(kKept));
    const std::set<std::string> there(found.begin(), found.end());
    EXPECT_GT(kept.size(), 100u);
    for (const std::string& line : kept)
        EXPECT_EQ(there.count(line), 1u) << "gone or moved: " << line;
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace firn
