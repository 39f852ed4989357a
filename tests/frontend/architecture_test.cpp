// compiler/README.md follows a small program through all stages: its texts are the compiler's
// output. FIRN_WRITE_README=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "compiler/driver/compile.h"
#include "compiler/driver/explain.h"
#include "compiler/frontend/record.h"
#include "compiler/language.h"
#include "tests/emitting.h"
#include "tests/pattern.h"

namespace firn {
namespace {

const std::string kPage = FIRN_SOURCE_DIR "/compiler/README.md";

std::string text_of(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

// clang-format off
Tensor step(Tensor x) {
    Tensor y = x * 1.0f;
    if_(0.0f < y, [&] { y = sqrt(y); });
    return y + x(0);
}
// clang-format on

/// The source of `step`, as it stands above.
std::string source() {
    const std::string all = text_of(__FILE__);
    const size_t begin = all.find("Tensor step(Tensor x) {"),
                 end = all.find("// clang-format on", begin);
    return all.substr(begin, end - begin);
}

/// Returns the text without the lines of the user's program.
std::string plain(const std::string& text) {
    std::stringstream in(text);
    std::string out;
    for (std::string line; std::getline(in, line);)
        out += replace_matches(line,
                               "  # .*|  \\(architecture_test.*| architecture_test.cpp:[0-9]+| $") +
               "\n";
    return out;
}

std::string main_of(const std::string& glsl) { return glsl.substr(glsl.find("void main()")); }

/// Returns the expected text of each block of the page, by the words behind its fence.
std::map<std::string, std::string> blocks() {
    SessionScope scope(emitting(gpu_profile()));
    const auto function = compile(step, {f32("n")});
    CompileOptions options{.name = "step", .emission = Emission::Text};
    options.trace = std::make_shared<CompileTrace>();
    const auto program =
        compile_graph(current_session().state()->nodes, function.graph(), gpu_profile(), options);
    std::map<std::string, std::string> out;
    out["cpp"] = source();
    const CompileTrace& trace = *options.trace;
    out["text recorded"] = plain(trace.graph.front().text);
    out["text simplified"] = plain(trace.graph.back().text);
    for (const CompileTrace::Pass& pass : trace.kernels.at(0).passes)
        out["text " + pass.name] = plain(pass.text);
    out["glsl"] = main_of(program->kernels.at(0).artefact.text);
    out["text explained"] = plain(explain(*program, {{"n", 1000}}));
    return out;
}

TEST(Architecture, ThePageShowsWhatTheCompilerMakes) {
    const std::map<std::string, std::string> made = blocks();
    const bool write = std::getenv("FIRN_WRITE_README");
    std::stringstream page(text_of(kPage));
    std::string out;
    int found = 0;
    for (std::string line; std::getline(page, line);) {
        out += line + "\n";
        const auto block = line.rfind("```", 0) == 0 ? made.find(line.substr(3)) : made.end();
        if (block == made.end()) continue;
        ++found;
        std::string is;
        while (std::getline(page, line) && line != "```") is += line + "\n";
        EXPECT_TRUE(write || is == block->second)
            << is << "is now\n"
            << block->second << "(FIRN_WRITE_README=1 writes it anew)";
        out += block->second + "```\n";
    }
    EXPECT_EQ(found, 7);
    if (write) std::ofstream(kPage) << out;
}

}  // namespace
}  // namespace firn
