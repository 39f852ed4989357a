// Loops that one copy of a kernel's body runs by itself, because it stores in them.
#include <gtest/gtest.h>

#include <functional>

#include "compiler/language.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

void expect_as_oracle(const std::function<Tensor(const Tensors&)>& function) {
    const auto run = [&](const Session& session) {
        SessionScope scope(session);
        const auto f = compile([&](const Tensors& xs) { return Tensors{function(xs)}; },
                               std::vector<ArgSpec>{f32(4096), f32()});
        return f.call({linspace(0.0f, 3.0f, 4096), Tensor(0.7f)})[0].to_vector<float>();
    };
    EXPECT_EQ(run(Session::interpreter(cpu_profile())), run(Session::oracle()));
}

/// One loop would have carried the values of all copies, which one copy alone has here.
TEST(LoopsOfCopies, CarryTheirOwnValuesInside) {
    expect_as_oracle([](const Tensors& xs) {
        Tensor x = xs[0], y = zeros({4096}, i32);
        for (Tensor iteration : loop(40)) {
            scatter_add(y(floor(2.1f * x + 0.17f).as(i32)), 1);
            for (Tensor k : loop(3)) x = 0.75f * abs(x - k.as(f32));
        }
        return y.as(f32);
    });
}

TEST(LoopsOfCopies, CarryWhatAllHaveInside) {
    expect_as_oracle([](const Tensors& xs) {
        Tensor x = xs[1], y = zeros({4096}, i32);
        for (Tensor iteration : loop(40)) {
            scatter_add(y(floor(10.0f * xs[0] + x).as(i32)), 1);
            for (Tensor k : loop(3)) x = 0.75f * abs(x - k.as(f32));
        }
        return y.as(f32);
    });
}

}  // namespace
}  // namespace firn
