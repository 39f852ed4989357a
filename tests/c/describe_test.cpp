// Programs, devices and the library describe themselves.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/c/fixture.h"

namespace firn {
namespace {

std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return text;
    char part[4096];
    while (const size_t count = fread(part, 1, sizeof part, pipe)) text.append(part, count);
    pclose(pipe);
    return text;
}

std::set<std::string> matches(const std::string& text, const char* pattern) {
    std::set<std::string> found;
    const std::regex regex(pattern);
    for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
        found.insert((*at)[1]);
    return found;
}

TEST(CLibrary, ExportsItsFunctionsAndNothingElse) {
    std::stringstream header;
    header << std::ifstream(FIRN_SOURCE_DIR "/engine/c/firn.h").rdbuf();
    const auto declared = matches(header.str(), "FIRN_API [a-z0-9_ *]+[ *](firn_[a-z_]+)\\(");
    const auto exported =
        matches(output_of("nm -D --defined-only " FIRN_BINARY_DIR "/lib/libfirn_runtime.so"),
                " [A-Za-z] ([^@\n]+)");
    std::set<std::string> functions = exported;
    functions.erase("FIRN_1");  // the version itself
    EXPECT_EQ(functions, declared);
    EXPECT_GT(declared.size(), 30u);
}

TEST(CLibrary, UnloadsAThousandTimes) {
    EXPECT_EQ(std::system(FIRN_BIN_DIR "/c_unloads " FIRN_BINARY_DIR "/lib/libfirn_runtime.so.1"),
              0);
}

TEST(CLibrary, HasAHeaderForEveryCompiler) {
    for (const char* compiler :
         {"gcc -x c -std=c99", "gcc -x c -std=c11", "g++ -x c++ -std=c++11",
          "g++ -x c++ -std=c++20", "clang -x c -std=c99", "clang -x c -std=c11",
          "clang++ -x c++ -std=c++11", "clang++ -x c++ -std=c++20"}) {
        const std::string name(compiler, std::string(compiler).find(' '));
        if (std::system(("command -v " + name + " > /dev/null").c_str()) != 0) continue;
        for (const char* text : {"#include <firn.h>\n",
                                 "#include <firn.h>\n#include "
                                 "<vulkan/vulkan.h>\n",
                                 "#include <vulkan/vulkan.h>\n#include <firn.h>\n"})
            EXPECT_EQ(std::system((std::string("printf '%s' '") + text + "' | " + compiler +
                                   " -Wall -Wextra -Werror -pedantic -fsyntax-only "
                                   "-I" FIRN_SOURCE_DIR "/engine/c -")
                                      .c_str()),
                      0)
                << compiler << "\n"
                << text;
    }
}

TEST(CRequirements, AskForNothingButTheVersion) {
    uint32_t count = 0;
    ASSERT_EQ(firn_requirements(nullptr, 0, nullptr, &count, nullptr, 0), FIRN_OK);
    std::vector<firn_requirement> rows(count);
    rows[0].struct_size = sizeof rows[0];
    ASSERT_EQ(firn_requirements(nullptr, 0, rows.data(), &count, nullptr, 0), FIRN_OK);
    for (const firn_requirement& row : rows) {
        EXPECT_EQ(row.needed, row.kind == FIRN_REQUIREMENT_VERSION) << row.name;
        EXPECT_NE(std::string(row.reason), "");
    }
    EXPECT_EQ(rows[0].version, VK_API_VERSION_1_2);
}

TEST(CRequirements, AreThoseOfAProgram) {
    const auto told = [](const std::vector<std::byte>& file) {
        std::map<std::string, bool> needed;
        firn_requirement rows[32];
        rows[0].struct_size = sizeof rows[0];
        uint32_t count = 32;
        EXPECT_EQ(firn_requirements(file.data(), file.size(), rows, &count, nullptr, 0), FIRN_OK);
        for (uint32_t k = 0; k < count; ++k) needed[rows[k].name] = rows[k].needed != 0;
        return needed;
    };
    EXPECT_TRUE(told(files().doubles).at("shaderFloat64"));
    EXPECT_EQ(told(files().wave).count("shaderFloat64"), 0u);
    char message[200];
    uint32_t count = 0;
    EXPECT_EQ(firn_requirements("x", 1, nullptr, &count, message, sizeof message), FIRN_ERROR_FILE);
    EXPECT_NE(std::string(message), "");
}

TEST(CPrograms, RunWithoutAnyFeatureWhereThatIsAskedFor) {
    firn_own own{};
    own.struct_size = sizeof own;
    own.flags = FIRN_OWN_NO_FEATURES;
    firn_context* context = nullptr;
    ASSERT_EQ(firn_context_create_own(&own, &context, nullptr, 0), FIRN_OK);
    firn_program* program = nullptr;
    ASSERT_OK(context,
              firn_program_load(context, files().wave.data(), files().wave.size(), &program));
    firn_call* call = nullptr;
    ASSERT_OK(context, firn_call_create(program, nullptr, 0, &call));
    firn_kernel_info kernel{};
    kernel.struct_size = sizeof kernel;
    ASSERT_OK(context, firn_kernel(call, 0, &kernel));
    for (uint32_t k = 0; k < kernel.binding_count; ++k)
        EXPECT_EQ(kernel.bindings[k].form, FIRN_BINDING_STORAGE);
    firn_call_release(call);
    firn_program_release(program);
    EXPECT_EQ(firn_context_destroy(context), FIRN_OK);
}

TEST(CPrograms, DescribeArgumentsResultsAndParameters) {
    firn_context* context = nullptr;
    ASSERT_EQ(firn_context_create_own(nullptr, &context, nullptr, 0), FIRN_OK);
    firn_program* program = nullptr;
    ASSERT_OK(context,
              firn_program_load(context, files().wave.data(), files().wave.size(), &program));
    firn_tensor_info u{}, dt{}, next{};
    u.struct_size = dt.struct_size = next.struct_size = sizeof u;
    ASSERT_OK(context, firn_argument_describe(program, 0, &u));
    EXPECT_EQ(u.dtype, FIRN_F32);
    EXPECT_STREQ(u.shape, "[n, m]");
    EXPECT_EQ(u.saved[1], 32);
    ASSERT_OK(context, firn_argument_describe(program, 2, &dt));
    EXPECT_TRUE(dt.is_scalar);
    EXPECT_FLOAT_EQ(static_cast<float>(dt.number), 0.1f);
    ASSERT_OK(context, firn_result_describe(program, 1, &next));
    EXPECT_STREQ(next.shape, "[n, m]");
    firn_parameter_info parameter{};
    parameter.struct_size = sizeof parameter;
    ASSERT_OK(context, firn_parameter_describe(program, 0, &parameter));
    EXPECT_STREQ(parameter.name, "dt");
    EXPECT_STREQ(parameter.unit, "s");
    EXPECT_EQ(parameter.max, 0.5);
    EXPECT_EQ(parameter.values[0], 0.1);
    firn_program_release(program);
    EXPECT_EQ(firn_context_destroy(context), FIRN_OK);
}

}  // namespace
}  // namespace firn
