// Kernels with remainders of floats, on a driver that bounds loops.
#include <gtest/gtest.h>

#include <string>

#include "compiler/driver/compile.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

/// So many remainders of x by different divisors, added up.
std::string sum_of_remainders(const std::string& type, int count) {
    const std::string shape = type + "[100000]";
    std::string args, body, sum;
    int next = count + 1;
    for (int k = 0; k <= count; ++k) args += (k ? ", %" : "%") + std::to_string(k) + ": " + shape;
    for (int k = 1; k <= count; ++k) {
        const std::string mod = "%" + std::to_string(next++);
        body += "    " + mod + ": " + shape + " = Mod %0, %" + std::to_string(k) + "\n";
        if (k > 1) {
            const std::string added = "%" + std::to_string(next++);
            body += "    " + added + ": " + shape + " = Add " + sum + ", " + mod + "\n";
            sum = added;
        } else {
            sum = mod;
        }
    }
    return "graph(" + args + ") {\n" + body + "    return " + sum + "\n}\n";
}

std::string glsl_of(const std::string& text, const DeviceProfile& profile) {
    NodeTable table;
    const auto program =
        compile_graph(table, parse(table, text), profile, {.emission = Emission::Text});
    return program->kernels[0].artefact.text;
}

int calls(const std::string& glsl, const std::string& function) {
    const std::string body = glsl.substr(glsl.find("void main()"));
    int count = 0;
    for (size_t at = body.find(function); at != std::string::npos; at = body.find(function, at + 1))
        ++count;
    return count;
}

/// A driver's compiler takes seconds for many loops, and for as many long divisions written out.
TEST(Remainders, OfAKernelAreFewCopies) {
    const std::string one = glsl_of(sum_of_remainders("f64", 1), cpu_profile()),
                      three = glsl_of(sum_of_remainders("f64", 3), cpu_profile()),
                      narrow = glsl_of(sum_of_remainders("f32", 3), cpu_profile());
    EXPECT_LE(calls(one, "firn_mod_f64("), 4);
    EXPECT_EQ(calls(one, "in_steps"), 0);
    EXPECT_EQ(calls(three, "firn_mod_f64("), 3);
    EXPECT_EQ(calls(three, "in_steps"), 0);
    EXPECT_LE(calls(narrow, "firn_mod_f32("), 4);
    EXPECT_EQ(calls(narrow, "in_steps"), 0);
}

/// If any number of iterations is allowed, remainders are loops in any number of copies.
TEST(Remainders, AreLoopsWhereNothingBoundsThem) {
    DeviceProfile profile = cpu_profile();
    profile.max_back_edges = 0;
    EXPECT_GE(calls(glsl_of(sum_of_remainders("f64", 3), profile), "firn_mod_f64("), 12);
}

}  // namespace
}  // namespace firn
