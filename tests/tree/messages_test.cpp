// A compiler's messages for the most frequent mistakes: each names the way out.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/tree/shell.h"

namespace firn {
namespace {

struct Mistake {
    const char* code;
    const char* said;
};

constexpr const char* kNoBool =
    "if: if_(c, [&] {..}); ?: select(c, a, b); for: loop(n); && || !: & | ~";
constexpr const char* kStack = "stack(v) makes one of them";
constexpr const char* kNoNumbers = "Write a number as a Tensor of rank 0, whose spec is f32()";
constexpr const char* kCount = "give as many arguments as the function takes";

// Statements after `Tensor x; const Tensor fixed; auto step = compile(..of two tensors..);`.
const std::vector<Mistake> kMistakes{
    {"if (x > 0.0f) x = 1.0f;", kNoBool},
    {"auto both = x > 0.0f && x < 1.0f;", kNoBool},
    {"auto chosen = x > 0.0f ? 1.0f : 2.0f;", kNoBool},
    {"for (int k = 0; k < x; ++k) {}", kNoBool},
    {"while (x(0) > 0.0f) {}", "explicit operator bool() const = delete"},
    {"slice(x, {.begin = 2}) += 1.0f;", "x(range(2, 5)) += v stores to x"},
    {"fixed(0) = 1.0f;", "x(range(2, 5)) = v stores to x"},
    {"x[0];", "x(i, j): brackets take one index"},
    {"Tensor c = turbo(x);", kStack},
    {"x = turbo(x);", kStack},
    {"x(0) = turbo(x);", kStack},
    {"x(range(x, 3));", "x(i + arange(3)) begins at a tensor"},
    {"step(x);", kCount},
    {"step(x, x, x);", kCount},
    {"jit([](Tensor a, Tensor b) { return a + b; })(x);", kCount},
    {"compile([](Tensor a, float b) { return a * b; }, {f32(\"n\"), f32()});", kNoNumbers},
    {"jit([](Tensor a, float b) { return a * b; });", kNoNumbers},
    {"compile([](Tensor a) { return Counted{a, 1}; }, {f32(\"n\")});", kNoNumbers},
    {"compile([](Tensor a, Tensor b) { return a + b; }, {f32(\"n\")});",
     "another number of tensors than there are specs"},
};

TEST(Messages, OfWhatDoesNotCompileNameTheWayOut) {
    const std::string path = FIRN_BINARY_DIR "/first_mistakes.cpp";
    std::ofstream file(path);
    file << "#include \"compiler/language.h\"\n#include \"compiler/shading.h\"\nusing namespace "
            "firn;\n"
            "struct Counted { Tensor x; int n; };\n";
    for (const Mistake& mistake : kMistakes)
        file << "void f" << &mistake - kMistakes.data() << "() { Tensor x; const Tensor fixed; "
             << "auto step = compile([](Tensor a, Tensor b) { return a + b; }, {f32(2), f32(2)}); "
             << mistake.code << " }\n";
    file.close();
    const Outcome compiled = run("c++ -std=c++20 -I. -fsyntax-only '" + path + "'");
    EXPECT_NE(compiled.status, 0);
    for (size_t k = 0; k < kMistakes.size(); ++k) {
        const std::string line = "first_mistakes.cpp:" + std::to_string(k + 5) + ":";
        EXPECT_NE(compiled.output.find(line), std::string::npos)
            << "compiles: " << kMistakes[k].code;
        EXPECT_NE(compiled.output.find(kMistakes[k].said), std::string::npos) << kMistakes[k].said;
    }
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace firn
