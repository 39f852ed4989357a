// Loops that are distributed: the part that stays in the kernel, and the part that is computed for
// all iterations at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

std::vector<float> some(int64_t count) {
    std::vector<float> out;
    for (int64_t k = 0; k < count; ++k) out.push_back(std::sin(0.7f * static_cast<float>(k) + 1));
    return out;
}

/// A program with arguments of these shapes; a number is the value of an i32.
struct Case {
    std::function<Tensors(const Tensors&)> function;
    std::vector<std::vector<int64_t>> shapes;
    std::vector<int> numbers = {};

    std::vector<double> values(Session session, std::shared_ptr<const Program>* program) const {
        SessionScope scope(std::move(session));
        std::vector<ArgSpec> specs;
        std::vector<Tensor> args;
        for (const auto& shape : shapes) {
            specs.push_back({f32, Shape(shape.begin(), shape.end())});
            args.push_back(
                tensor(some(element_count(specs.back().shape).constant()), specs.back().shape));
        }
        for (const int number : numbers) {
            specs.push_back(i32());
            args.push_back(Tensor(number));
        }
        const auto f = compile([&](const Tensors& all) { return function(all); }, specs);
        if (program) *program = f.program();
        std::vector<double> out;
        for (const Tensor& y : f(args))
            for (float value : y.as(f32).to_vector<float>()) out.push_back(value);
        return out;
    }

    /// Returns the program, if its kernels give the oracle's results.
    std::shared_ptr<const Program> checked(const DeviceProfile& profile = cpu_profile()) const {
        std::shared_ptr<const Program> program;
        const auto expected = values(Session::oracle(), nullptr),
                   found = values(Session::interpreter(profile), &program);
        EXPECT_EQ(found.size(), expected.size());
        for (size_t k = 0; k < std::min(found.size(), expected.size()); ++k)
            EXPECT_NEAR(found[k], expected[k], 1e-5 * (1 + std::abs(expected[k]))) << k;
        return program;
    }
};

int64_t dispatches(const Program& program) { return stats(program, {}).dispatches; }

/// A value of this type and shape is in memory.
bool keeps(const Program& program, const std::string& value) {
    return std::any_of(program.verdicts.begin(), program.verdicts.end(),
                       [&](const VerdictInfo& verdict) {
                           return verdict.verdict == "materialised" &&
                                  verdict.value.find(" " + value) != std::string::npos;
                       });
}

/// A recurrence of each element, and a read of all of them in every iteration.
Tensors followed(const Tensors& a, Tensor trips, const std::function<void(Tensor&, Tensor)>& read) {
    Tensor x = a[0], total = 0.0f;
    for (Tensor t : loop(trips)) {
        x = 0.9f * x + 0.1f * sin(x + a[1](t));
        read(total, x);
    }
    return {x, total};
}

void add_energy(Tensor& total, Tensor x) { total += sum(x * x); }

/// The sum of reads in iterations of which each may leave a state behind.
Case total(int64_t size, int64_t trips, void (*read)(Tensor&, Tensor) = add_energy) {
    return {[=](const Tensors& a) { return Tensors{followed(a, Tensor(Size(trips)), read)[1]}; },
            {{size}, {std::max<int64_t>(trips, 1)}}};
}

TEST(DistributedLoops, ASumOverElementsLeavesTheLoop) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        EXPECT_TRUE(keeps(*total(14, 100).checked(profile), "f32[100, 14]"));
        EXPECT_TRUE(keeps(*total(2, 100).checked(profile), "f32[100, 2]"));
        for (const int64_t trips : {0, 1}) total(14, trips).checked(profile);
        total(1, 100).checked(profile);
    }
}

TEST(DistributedLoops, WhatIsSubtractedToo) {
    const auto read = [](Tensor& sum_of, Tensor x) { sum_of -= sum(exp(x)); };
    EXPECT_TRUE(keeps(*total(14, 50, read).checked(), "f32[50, 14]"));
}

TEST(DistributedLoops, WhatIsReadAgainStaysInTheLoop) {
    const auto read = [](Tensor& last, Tensor x) { last = 0.5f * last + sum(x * x); };
    EXPECT_FALSE(keeps(*total(14, 50, read).checked(), "f32[50, 14]"));
    const auto twice = [](Tensor& last, Tensor x) { last += last * sum(x * x) * 0.01f + 1.0f; };
    EXPECT_FALSE(keeps(*total(14, 50, twice).checked(), "f32[50, 14]"));
}

TEST(DistributedLoops, TapesThatLeaveTheCacheAreNotKept) {
    DeviceProfile small = cpu_profile();
    small.cache_bytes = 14 * 4 * 99;
    EXPECT_FALSE(keeps(*total(14, 100).checked(small), "f32[100, 14]"));
    small.cache_bytes = 14 * 4 * 100;
    EXPECT_TRUE(keeps(*total(14, 100).checked(small), "f32[100, 14]"));
}

TEST(DistributedLoops, IterationsCountAnyWay) {
    const auto run = [](int begin, int end, int step) {
        return Case{[=](const Tensors& a) {
                        Tensor x = a[0], sum_of = 1.0f;
                        for (Tensor t : loop(begin, end, step)) {
                            x = 0.9f * x + 0.1f * sin(x + a[1](t));
                            sum_of += sum(x) * cast<float>(t);
                        }
                        return Tensors{sum_of};
                    },
                    {{6}, {40}}}
            .checked();
    };
    EXPECT_TRUE(keeps(*run(3, 30, 1), "f32[27, 6]"));
    EXPECT_TRUE(keeps(*run(30, 3, -2), "f32[14, 6]"));
    EXPECT_TRUE(keeps(*run(2, 31, 3), "f32[10, 6]"));
    EXPECT_FALSE(keeps(*run(9, 3, 1), "f32[0, 6]"));
}

TEST(DistributedLoops, TripsOfTheCallHaveABoundOfTheHost) {
    const auto run = [](bool bounded, int trips) {
        return Case{[bounded](const Tensors& a) {
                        const Tensor count = bounded ? min(a[2], 40) : a[2];
                        return Tensors{followed({a[0], a[1]}, count, add_energy)[1]};
                    },
                    {{14}, {50}},
                    {trips}}
            .checked();
    };
    for (const int trips : {0, 1, 7, 45}) {
        EXPECT_TRUE(keeps(*run(true, trips), "f32[max(0, min(40, $2)), 14]")) << trips;
        EXPECT_FALSE(keeps(*run(false, trips), "f32[max(0, $2), 14]")) << trips;
    }
}

TEST(DistributedLoops, IntegersAndWhatIsCarriedAlong) {
    Case{[](const Tensors& a) {
             Tensor x = cast<int>(a[0] * 100.0f), seen = 0, last = x;
             for (Tensor t : loop(30)) {
                 seen += sum(last * t);
                 last = x;
                 x = (x * 75 + 74) % 65537;
             }
             return Tensors{cast<float>(seen % 10007), cast<float>(last)};
         },
         {{9}}}
        .checked();
}

/// Each element of the loop's kernel would reduce the same row again.
TEST(DistributedLoops, AReductionOfTheIterationStandsBeforeIt) {
    const Case rows{[](const Tensors& a) {
                        Tensor x = a[0];
                        for (Tensor t : loop(20)) x = 0.5f * x + log(sum(exp(a[1](t))));
                        return Tensors{x};
                    },
                    {{64}, {20, 32}}};
    EXPECT_LT(stats(*rows.checked(), {}).operations, 20 * 64 * 32) << "of 20 rows of 32, once";
}

/// If each element has a row of its own, nothing is reduced twice.
TEST(DistributedLoops, AReductionOfEachElementStaysInIt) {
    const Case own{[](const Tensors& a) {
                       Tensor x = a[0];
                       for (Tensor t : loop(20))
                           x = 0.5f * x + sum(exp(a[1] * cast<float>(t)), {1});
                       return Tensors{x};
                   },
                   {{64}, {64, 32}}};
    EXPECT_EQ(dispatches(*own.checked()), 1);
}

/// More results than a kernel binds are parts of one tensor.
TEST(DistributedLoops, ManyResultsAreOneBinding) {
    const auto run = [](int64_t count) {
        return Case{[count](const Tensors& a) {
                        Tensors x(static_cast<size_t>(count), a[0]);
                        for (Tensor t : loop(10))
                            for (size_t k = 0; k < x.size(); ++k)
                                x[k] = 0.9f * x[k] + 0.01f * static_cast<float>(k);
                        const Tensor last = x.back();
                        x.pop_back();
                        return Tensors{stack(x), last};
                    },
                    {{14}}}
            .checked();
    };
    EXPECT_TRUE(keeps(*run(60), "f32[60, 14]"));
    EXPECT_FALSE(keeps(*run(20), "f32[20, 14]")) << "a kernel binds so many";
}

/// A loop that keeps its intermediate values runs inside one kernel, and its end is read from them.
TEST(DistributedLoops, TapesAreStoredInOneKernel) {
    const Case gradient{[](const Tensors& a) {
                            Tensor x = a[0];
                            for (Tensor t : loop(25)) x = x + 0.1f * sin(x * a[1](t));
                            return Tensors{x, grad(sum(x * x), a[0])};
                        },
                        {{14}, {25}}};
    EXPECT_LE(dispatches(*gradient.checked()), 3);
}

/// A kernel that stores in every iteration would run the loop once more for the values behind it.
TEST(DistributedLoops, NoLoopRunsTwiceForItsEnd) {
    const auto operations = [](bool end) {
        const Case passed{[end](const Tensors& a) {
                              Tensor x = a[0], seen = zeros({25, 14});
                              for (Tensor t : loop(25)) {
                                  seen(t) = x;
                                  x = x + 0.1f * sin(x * a[1](t));
                              }
                              return end ? Tensors{seen, x} : Tensors{seen};
                          },
                          {{14}, {25}}};
        return static_cast<double>(stats(*passed.checked(), {}).operations);
    };
    EXPECT_LT(operations(true), 1.5 * operations(false));
}

}  // namespace
}  // namespace firn
