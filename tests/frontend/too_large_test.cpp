// Values that no memory holds are refused with their operation, size and line, in every session.
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class TooLarge : public ::testing::TestWithParam<bool> {
  protected:
    Session session_ = GetParam() ? Session::interpreter() : Session::oracle();
    SessionScope scope_{session_};

    /// The message of the error, whether it is the user's or of a device.
    template <class F>
    std::string error_of(const F& body) {
        try {
            body();
        } catch (const UserError& error) {
            return error.what();
        } catch (const DeviceError& error) {
            return error.what();
        }
        return "";
    }
};
INSTANTIATE_TEST_SUITE_P(Executors, TooLarge, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

TEST_P(TooLarge, ResultsNameTheirOperationSizeAndLine) {
    const int line = __LINE__ + 1;
    Tensor x = zeros({1 << 20, 1 << 20});
    const std::string message = error_of([&] { x.to_vector<float>(); });
    expect_parts(message, {"[1048576, 1048576]", "1099511627776 elements", "4398046511104 bytes",
                           "too_large_test.cpp:" + std::to_string(line)});
    EXPECT_EQ(message.find("kernel ''"), std::string::npos) << message;
    expect_parts(error_of([&] { (x + 1.0f).to_vector<float>(); }),
                 {"4398046511104 bytes", "too_large_test.cpp:"});
}

TEST_P(TooLarge, ResultsOfCompiledFunctionsToo) {
    const std::string message = error_of([&] {
        auto f = compile([](Tensor a) { return expand(a, {1 << 20, 1 << 20}); }, {f32()});
        f(1.0f);
    });
    expect_parts(message, {"4398046511104 bytes", "too_large_test.cpp:"});
    const std::string symbolic = error_of([&] {
        auto f = compile([](Tensor a) { return unsqueeze(a, 0) + unsqueeze(a, 1); }, {f32("n")});
        f(zeros({1 << 19}));
    });
    expect_parts(symbolic, {"too_large_test.cpp:"});
}

TEST_P(TooLarge, ValuesBetweenToo) {
    const Tensor x = rand({1 << 17}, {.seed = 1});
    expect_parts(error_of([&] {
                     const Tensor all = unsqueeze(x, 0) * unsqueeze(x, 1);
                     sum(cumsum(all, {.axis = 1})).item<float>();
                 }),
                 {"17179869184", "too_large_test.cpp:"});
}

TEST_P(TooLarge, SizesBeyondAllCounting) {
    const std::string message = error_of([&] {
        zeros({int64_t{1} << 40, int64_t{1} << 40}).to_vector<float>();
    });
    EXPECT_NE(message, "");
}

TEST(TooLargeVirtually, WhatIsNeverInMemoryIsComputed) {
    SessionScope scope(Session::interpreter());
    EXPECT_EQ((zeros({1 << 20, 1 << 20}) + 2.0f)(7, 9).item<float>(), 2.0f);
}

}  // namespace
}  // namespace firn
