// Machine code for tests: C that is compiled as the test runs.
#pragma once
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace firn::test {

/// Returns the object file of a text in C; nothing where there is no compiler.
inline std::optional<std::vector<std::byte>> compile_c(const std::string& text,
                                                       const std::string& options = "-fPIC") {
    static std::map<std::pair<std::string, std::string>, std::optional<std::vector<std::byte>>>
        known;
    const auto [at, is_new] = known.try_emplace({text, options});
    if (!is_new) return at->second;
    const std::filesystem::path folder = testing::TempDir();
    const std::string name = "firn_host_" + std::to_string(known.size());
    const std::filesystem::path source = folder / (name + ".c"), object = folder / (name + ".o");
    std::ofstream(source) << text;
    const std::string command = "c++ -x c -O2 -c -fno-stack-protector " + options + " '" +
                                source.string() + "' -o '" + object.string() + "' 2>&1";
    if (std::system(command.c_str()) != 0) return std::nullopt;
    std::ifstream in(object, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    at->second.emplace(begin, begin + bytes.size());
    std::filesystem::remove(source), std::filesystem::remove(object);
    return at->second;
}

#define FIRN_SKIP_WITHOUT_COMPILER(code) \
    if (!(code)) GTEST_SKIP() << "there is no compiler `c++` that makes machine code for the test"

}  // namespace firn::test
