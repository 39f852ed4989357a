// Pairs of stores that are proved to fill a tensor become parts of one value.
#include <gtest/gtest.h>

#include <string>

#include "compiler/driver/compile.h"
#include "compiler/ir/text.h"
#include "compiler/language.h"
#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

/// The surroundings of the stores: the definition of %d, the numbers of positions and places, how
/// the second place follows from the first, and further uses of the first store's result.
struct Stores {
    std::string d = "    %d: i32 = Constant 4\n";
    std::string positions = "512", places = "1024";
    std::string second = "Add %low, %ds";
    std::string times = "2";
    std::string result = "%both";
};

bool are_joined(const Stores& s) {
    NodeTable table;
    RuleCounts fired;
    const std::string i = ": i32[" + s.positions + "] = ", f = "f32[" + s.places + "]";
    const std::string text =
        "graph(%target: " + f + ", %s: i32, %values: f32[" + s.positions + "]) {\n" + s.d +
        "    %x" + i + "Index axis=0\n    %k: i32 = Constant " + s.times +
        "\n    %kd: i32 = Mul %k, %d\n    %ds" + i + "Expand %d\n    %kds" + i +
        "Expand %kd\n    %q" + i + "Div %x, %ds\n    %h" + i + "Mul %q, %kds\n    %r" + i +
        "Mod %x, %ds\n    %low" + i + "Add %h, %r\n    %high" + i + s.second + "\n    %one: " + f +
        " = Scatter %target, %values, %low op=last unique\n    %both: " + f +
        " = Scatter %one, %values, %high op=last unique\n    return " + s.result + "\n}\n";
    join_stores(table, parse(table, numbered(text)), &fired);
    return fired["filled in pairs"] == 1;
}

TEST(JoinStores, PairsOfAButterflyFillWhatTheyStoreTo) {
    EXPECT_TRUE(are_joined({}));
    EXPECT_TRUE(are_joined({.second = "Xor %ds, %low"}));
    EXPECT_TRUE(are_joined({.second = "Or %low, %ds"}));
    EXPECT_TRUE(are_joined({.d = "    %d: i32 = Constant 3\n", .positions = "6", .places = "12"}));
}

TEST(JoinStores, WhatDoesNotFillItIsLeftAlone) {
    EXPECT_FALSE(are_joined({.places = "1025"}));
    EXPECT_FALSE(are_joined({.places = "512"}));
    EXPECT_FALSE(are_joined({.second = "Add %low, %x"}));
    EXPECT_FALSE(are_joined({.times = "1"})) << "they meet";
    EXPECT_FALSE(are_joined({.d = "    %d: i32 = Constant 3\n"})) << "the last block is cut off";
    EXPECT_FALSE(are_joined({.d = "    %d: i32 = Constant 0\n"}));
    EXPECT_FALSE(are_joined({.d = "    %n: i32 = Constant 1\n    %d: i32 = ShiftLeft %n, %s\n"}))
        << "it may be larger than all";
    for (const char* second : {"Or %low, %ds", "Xor %low, %ds"})
        EXPECT_FALSE(are_joined({.d = "    %d: i32 = Constant 3\n",
                                 .positions = "6",
                                 .places = "12",
                                 .second = second}))
            << second << ": 3 has bits that others have";
    EXPECT_FALSE(are_joined({.result = "%both, %one"})) << "the first version is a result too";
}

using Tensors = std::vector<Tensor>;

/// Sums of differences at distances 2^(k - j), as a bitonic sort goes through them; `more` beyond
/// the largest of them that fits.
Tensor butterflies(Tensor x, int levels) {
    for (Tensor k : loop(levels))
        for (Tensor j : loop(k + 1)) {
            Tensor d = 1 << (k - j), t = arange(floor_div(x.size(0), 2));
            Tensor low = t / d * (2 * d) + t % d, high = low + d;
            Tensor a = x(low), b = x(high);
            x(low) = a + 0.5f * b;
            x(high) = a - b;
        }
    return x;
}

/// The work of an iteration of `butterflies`, as a kernel.
enum class Body : uint8_t { Plain, ReadsAgain, Guarded };
Tensor butterfly_kernels(Tensor x, int levels, Body body) {
    for (Tensor k : loop(levels))
        for (Tensor j : loop(k + 1))
            kernel({floor_div(x.size(0), 2)}, [&](Tensor t) {
                Tensor d = 1 << (k - j), low = t / d * (2 * d) + t % d, high = low + d;
                Tensor a = x(low), b = x(high);
                const auto stores = [&] {
                    x(low) = a + 0.5f * b;
                    x(high) = a - b + (body == Body::ReadsAgain ? own(x)(high) : Tensor(0.0f));
                };
                if (body == Body::Guarded)
                    if_(t != 3, stores);
                else
                    stores();
            });
    return x;
}

/// Along the second axis of two tensors at once, by the numbers of one loop.
Tensors rotations(const Tensors& a, int levels) {
    Tensor re = a[0], im = a[0] * 2.0f;
    for (Tensor level : loop(levels)) {
        auto [i, j] = indices<2>({re.size(0), floor_div(re.size(1), 2)});
        Tensor d = 1 << level, low = j / d * (2 * d) + j % d, high = low + d;
        Tensor a_re = re(i, low), a_im = im(i, low), b_re = re(i, high), b_im = im(i, high);
        re(i, low) = a_re + b_im, im(i, low) = a_im - b_re;
        re(i, high) = a_re - b_im, im(i, high) = a_im + b_re;
    }
    return {re, im};
}

std::vector<float> ran(const Session& session, const Shape& shape, int levels) {
    SessionScope scope(session);
    auto f = compile(
        [&](const Tensors& a) {
            return shape.size() == 1 ? Tensors{butterflies(a[0], levels)} : rotations(a, levels);
        },
        std::vector<ArgSpec>{{f32, shape}});
    std::vector<float> out;
    for (const Tensor& t : f.call({rand(shape, {.seed = 3})}))
        for (float value : t.to_vector<float>()) out.push_back(value);
    return out;
}

TEST(JoinStores, GiveWhatTheOracleGives) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        for (const auto& [shape, levels] : {std::pair<Shape, int>{{64}, 6},
                                            {{64}, 7},  // one distance is too large
                                            {{96}, 5},
                                            {{65}, 5},
                                            {{3, 16}, 4},
                                            {{3, 16}, 5}})
            EXPECT_EQ(ran(Session::interpreter(profile), shape, levels),
                      ran(Session::oracle(), shape, levels))
                << profile.name << " " << text(shape) << " levels " << levels;
}

TEST(JoinStores, AnIterationIsOneKernelWithoutCopies) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    const auto dispatches = [](int64_t n) {
        auto f = compile([](Tensor x) { return butterflies(x, 4); }, {f32(n)});
        return stats(*f.program(), {});
    };
    const ProgramStats pairs = dispatches(1 << 20), others = dispatches((1 << 20) + 1);
    EXPECT_EQ(pairs.dispatches, 1 + 2 + 3 + 1);  // the four of the last level together
    EXPECT_EQ(others.dispatches, 20);
}

TEST(JoinStores, KernelsThatFillGiveWhatTheOracleGives) {
    for (Body body : {Body::Plain, Body::ReadsAgain, Body::Guarded})
        for (const auto& [n, levels] :
             {std::pair<int64_t, int>{64, 6}, {64, 7}, {96, 5}, {65, 5}, {1 << 13, 4}}) {
            const auto ran_on = [&](const Session& session) {
                SessionScope scope(session);
                auto f =
                    compile([&](Tensor x) { return butterfly_kernels(x, levels, body); }, {f32(n)});
                return Tensor(f(rand({n}, {.seed = 3}))).to_vector<float>();
            };
            EXPECT_EQ(ran_on(Session::interpreter(cpu_profile())), ran_on(Session::oracle()))
                << n << " levels " << levels << " body " << int(body);
        }
}

TEST(JoinStores, AKernelThatFillsCopiesNothing) {
    SessionScope scope(Session::interpreter(cpu_profile()));
    // A copy stands between two barriers, as a kernel does.
    const auto barriers = [](Body body) {
        auto f = compile([&](Tensor x) { return butterfly_kernels(x, 4, body); }, {f32(1 << 20)});
        return stats(*f.program(), {}).barriers;
    };
    EXPECT_LE(barriers(Body::Plain), 10);
    EXPECT_GE(barriers(Body::Guarded), 20);
}

}  // namespace
}  // namespace firn
