// Every example in the comments of the public headers gives the stated result: by the oracle, by
// the kernel interpreter and on the device. Examples on pages run.
#include "tests/examples/examples.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/ir/near.h"

namespace firn {
namespace {

/// The result that a comment states: numbers in braces, as deep as the shape has axes.
struct Said {
    std::vector<double> values;
    std::vector<int64_t> shape;
};

double parse_number(const char*& at) {
    for (const auto& [word, value] : {std::pair{"true", 1.0}, {"false", 0.0}})
        if (const size_t size = std::string(word).size(); !std::string(at).compare(0, size, word)) {
            at += size;
            return value;
        }
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) throw UserError("no number: " + std::string(at));
    at = end;
    return value;
}

void parse_level(const char*& at, size_t depth, Said& out) {
    while (*at == ' ') ++at;
    if (*at != '{') {
        out.values.push_back(parse_number(at));
        return;
    }
    int64_t count = 0;
    for (++at; *at != '}'; ++count) {
        parse_level(at, depth + 1, out);
        while (*at == ' ' || *at == ',') ++at;
        if (!*at) throw UserError("a brace is missing");
    }
    ++at;
    if (out.shape.size() <= depth) out.shape.resize(depth + 1);
    out.shape[depth] = count;
}

Said parse(const std::string& is) {
    Said out;
    const char* at = is.c_str();
    parse_level(at, 0, out);
    if (*at) throw UserError("more than a value: " + is);
    return out;
}

std::vector<int64_t> numbers(const Shape& shape) {
    std::vector<int64_t> out;
    for (const Size& size : shape) out.push_back(size.constant());
    return out;
}

}  // namespace

void Shows::compare_values(const std::vector<double>& got, const std::vector<int64_t>& shape,
                           const std::string& place, const std::string& is) {
    SCOPED_TRACE(place + ": " + is);
    try {
        const Said said = parse(is);
        EXPECT_EQ(shape, said.shape);
        ASSERT_EQ(got.size(), said.values.size());
        for (size_t k = 0; k < got.size(); ++k)
            EXPECT_TRUE(near(got[k], said.values[k], 1e-4))
                << "element " << k << ": " << got[k] << " instead of " << said.values[k];
    } catch (const UserError& error) {
        ADD_FAILURE() << error.what();
    }
}

void Shows::operator()(const Tensor& got, const char* is) {
    pending_.push_back({got, place_, is});
    if (pending_.size() == 32) compare();
}

void Shows::operator()(const std::string& got, const char* is) {
    EXPECT_EQ("\"" + got + "\"", is) << place_;
}

void Shows::operator()(const TensorShape& got, const char* is) {
    std::ostringstream text;
    text << got;
    EXPECT_EQ(text.str(), is) << place_;
}

void Shows::compare() {
    std::vector<Tensor*> tensors;
    for (Pending& each : pending_) tensors.push_back(&each.got);
    try {
        realize(tensors);
    } catch (const UserError&) {
        // Each of these states below why it is refused.
    }
    for (const Pending& each : pending_) try {
            compare_values(each.got.to_vector<double>(), numbers(each.got.shape()), each.place,
                           each.is);
        } catch (const UserError& error) {
            ADD_FAILURE() << each.place << ": " << error.what();
        }
    pending_.clear();
}

namespace {

/// Files that examples write lie in a folder of their own.
class Examples : public ::testing::Test {
  protected:
    void SetUp() override {
        before_ = std::filesystem::current_path();
        const auto folder =
            std::filesystem::path(::testing::TempDir()) /
            ("firn_examples_" +
             std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        std::filesystem::current_path(folder);
    }
    void TearDown() override { std::filesystem::current_path(before_); }

    static void run(const std::vector<Example>& examples, const Session& session) {
        SessionScope scope(session);
        Shows shows;
        EXPECT_FALSE(examples.empty());
        for (const Example& each : examples) try {
                shows.begin(each.place);
                each.run(shows);
            } catch (const UserError& error) {
                ADD_FAILURE() << each.place << ": " << error.what();
            }
        shows.compare();
    }

  private:
    std::filesystem::path before_;
};

void run_on_device(void (*run)(const Session&)) {
    try {
        run(device_session({.validation = true}));
    } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
    }
}

#define EXAMPLES(Group, group)                                                                  \
    TEST_F(Examples, Of##Group##ByTheOracle) { run(examples_of_##group(), Session::oracle()); } \
    TEST_F(Examples, Of##Group##ByTheKernelInterpreter) {                                       \
        run(examples_of_##group(), Session::interpreter());                                     \
    }                                                                                           \
    TEST_F(Examples, Of##Group##OnTheDevice) {                                                  \
        run_on_device([](const Session& session) { run(examples_of_##group(), session); });     \
    }
EXAMPLES(Frontend, frontend)
EXAMPLES(Algorithms, algorithms)
EXAMPLES(Others, others)

/// Programs with windows and timings: they need a device.
TEST_F(Examples, OfPagesOnTheDevice) {
    run_on_device([](const Session& session) { run(examples_of_pages(), session); });
}

}  // namespace
}  // namespace firn
