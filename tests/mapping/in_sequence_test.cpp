// Small kernels that need one another run in one dispatch of one group, and give the same.
#include "compiler/mapping/list/in_sequence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/emitting.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// A body that reads its neighbours: a loop of kernels with two buffers that rotate.
Tensor smoothed(Tensor x, const Tensor& iterations) {
    for (Tensor iteration : loop(iterations)) {
        auto [i, j] = indices<2>(x.shape());
        x = 0.25f * (x(i - 1, j) + x(i + 1, j) + x(i, j - 1) + x(i, j + 1)) +
            cast<float>(iteration);
    }
    return x;
}

/// Three buffers rotate, and all three are results.
Tensors leapfrog(const Tensors& a) {
    Tensor before = a[0], now = a[0] + 1.0f, last = a[0];
    for (Tensor iteration : loop(a[1])) {
        auto [i, j] = indices<2>(now.shape());
        Tensor next = 2.0f * now - before + 0.1f * (now(i, j - 1) + now(i - 1, j));
        last = before, before = now, now = next;
    }
    return {before, now, last};
}

/// Halves and back, as multigrid does, and two sums whose lanes work together.
Tensors pyramid(const Tensors& a) {
    Tensor x = a[0];
    for (Tensor cycle : loop(a[1])) {
        x = smoothed(x, a[1]);
        auto [i, j] = indices<2>({ceil_div(x.size(0), 2), ceil_div(x.size(1), 2)});
        Tensor coarse = smoothed(x(2 * i, 2 * j) + x(2 * i + 1, 2 * j + 1), 2 * a[1]);
        auto [k, l] = indices<2>(x.shape());
        x = x + 0.5f * coarse(k / 2, l / 2);
        x = x / (1.0f + sum(x * x, {.axis = 1, .keep_dims = true}));
    }
    return {x, sum(x), sum(x, {.axis = 0})};
}

/// A row of x for each iteration, and the largest value so far in each place.
Tensors rows_and_most(const Tensors& a) {
    Tensor x = a[0], most = a[0];
    for (Tensor iteration : loop(a[1])) {
        Tensor j = arange(x.size(1));
        x(2 * iteration % x.size(0), j) = x(iteration % x.size(0), j) * 0.5f + 1.0f;
        most = max(most, x);
    }
    return {x, most};
}

/// An iteration's result is used later, but not by the next iteration.
Tensors only_afterwards(const Tensors& a) {
    Tensor x = a[0], found = a[0];
    for (Tensor iteration : loop(a[1])) {
        found = x(0, 0) * 2.0f + x;
        x = smoothed(x, Tensor(1));
    }
    return {found, x};
}

/// Stores make new versions of tensors.
Tensors stores(const Tensors& a) {
    Tensor x = a[0], counts = zeros({5}, i32);
    for (Tensor iteration : loop(a[1])) {
        auto [i, j] = indices<2>(x.shape());
        x(j % x.size(0), i % x.size(1)) = x + 1.0f;
        scatter_add(counts((i + j + iteration) % 5), 1);
    }
    return {x, counts};
}

/// An inner loop that may have no iterations, and then leaves the old values.
Tensors perhaps_none(const Tensors& a) {
    Tensor x = a[0], y = a[0] + 1.0f;
    for (Tensor iteration : loop(a[1])) {
        Tensor z = y;
        for (Tensor inner : loop(a[1] - 4)) {
            auto [i, j] = indices<2>(x.shape());
            z = x(i - 1, j) + cast<float>(inner);
        }
        auto [i, j] = indices<2>(x.shape());
        y = 0.5f * x(i, j - 1), x = z;
    }
    return {x, y};
}

/// Buffers of two sizes rotate, beside numbers of two types.
Tensors sizes_beside(const Tensors& a) {
    Tensor x = a[0], rows = sum(a[0], {.axis = 1}), total = 0.0f, counted = 0;
    for (Tensor iteration : loop(a[1])) {
        auto [i, j] = indices<2>(x.shape());
        x = 0.5f * (x(i - 1, j) + x(i, j + 1));
        rows = 0.5f * roll(rows, 1) + sum(x, {.axis = 1});
        total += sum(x * x);
        counted += sum(cast<int>(x > 0.5f)) + iteration;
    }
    return {x, rows, total, counted};
}

/// Rows that have nothing to do with one another: waves on strings.
Tensors strings(const Tensors& a) {
    Tensor u = a[0], v = zeros(a[0].shape());
    for (Tensor iteration : loop(a[1])) {
        auto [i, j] = indices<2>(u.shape());
        v = v + 0.2f * (wrap(u)(i, j - 1) - 2.0f * u + u(i, j + 1));
        u = u + 0.2f * v + 0.01f * cast<float>(iteration);
    }
    return {u, v};
}

/// The same, but the last iteration of each third one reads the row above.
Tensors tied_strings(const Tensors& a) {
    Tensor u = a[0];
    for (Tensor iteration : loop(a[1])) {
        auto [i, j] = indices<2>(u.shape());
        u = 0.5f * u(i, j - 1) + select(iteration % 3 == 2, u(i - 1, j), u);
    }
    return {u};
}

/// A recurrent layer and a sum of each of many products: more tensors than a kernel binds.
Tensors many_sums(const Tensors& a) {
    constexpr int kSums = 40;
    Tensor h = a[0];
    Tensors sums(kSums, zeros(h.shape()));
    for (Tensor iteration : loop(a[1])) {
        auto [i, j] = indices<2>(h.shape());
        h = tanh(h(i, j - 1) + 0.5f * h + 0.1f * cast<float>(iteration));
        const Tensor scale = sum(h) * 0.01f;
        for (int k = 0; k < kSums; ++k)
            sums[static_cast<size_t>(k)] += h(i, (j + k) % h.size(1)) * scale;
    }
    Tensor all = h;
    for (int k = 0; k < kSums; ++k) all = all + float(k + 1) * sums[static_cast<size_t>(k)];
    return {all};
}

struct SequenceRow {
    const char* name;
    Tensors (*function)(const Tensors&);
    int dispatches = 1;  // at most
};
class InSequence_ : public testing::TestWithParam<SequenceRow> {};
INSTANTIATE_TEST_SUITE_P(
    Rows, InSequence_,
    testing::Values(SequenceRow{"pyramid", pyramid, 3}, SequenceRow{"leapfrog", leapfrog},
                    SequenceRow{"only_afterwards", only_afterwards},
                    SequenceRow{"perhaps_none", perhaps_none},
                    SequenceRow{"sizes_beside", sizes_beside}, SequenceRow{"strings", strings},
                    SequenceRow{"tied_strings", tied_strings}, SequenceRow{"stores", stores, 7},
                    SequenceRow{"rows_and_most", rows_and_most, 8},
                    SequenceRow{"many_sums", many_sums, 100}),
    [](const auto& info) { return std::string(info.param.name); });

struct Given {
    Shape shape;
    int iterations;
};

std::vector<std::vector<float>> run(const Session& session, const SequenceRow& row,
                                    const Given& given, bool symbolic) {
    SessionScope scope(session);
    const ArgSpec x = symbolic ? f32("n", "m") : ArgSpec{f32, given.shape};
    auto f =
        compile([&](const Tensors& a) { return row.function(a); }, std::vector<ArgSpec>{x, i32()});
    std::vector<std::vector<float>> out;
    for (const Tensor& t : f.call({rand(given.shape, {.seed = 5}), given.iterations}))
        out.push_back(cast<float>(t).to_vector<float>());
    return out;
}

void expect_near(const std::vector<std::vector<float>>& got,
                 const std::vector<std::vector<float>>& expected, const std::string& what) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k) {
        ASSERT_EQ(got[k].size(), expected[k].size()) << what;
        for (size_t e = 0; e < got[k].size(); ++e)
            ASSERT_NEAR(got[k][e], expected[k][e], 1e-4f * (1 + std::abs(expected[k][e])))
                << what << " result " << k << " at " << e;
    }
}

TEST_P(InSequence_, GivesWhatTheOracleGives) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        for (bool symbolic : {false, true})
            for (const Given& given : {Given{{16, 32}, 3},
                                       {{7, 5}, 2},
                                       {{1, 1}, 4},
                                       {{33, 64}, 1},
                                       {{8, 8}, 0},
                                       {{0, 5}, 2},
                                       {{12, 20}, 19},
                                       {{40, 64}, 2},
                                       {{64, 40}, 5}})
                expect_near(run(Session::interpreter(profile), GetParam(), given, symbolic),
                            run(Session::oracle(), GetParam(), given, symbolic),
                            profile.name + (symbolic ? " symbolic " : " ") + text(given.shape) +
                                " iterations " + std::to_string(given.iterations));
}

/// A driver that lets an invocation run so many iterations.
DeviceProfile with_back_edges(int64_t most) {
    DeviceProfile profile = cpu_profile();
    profile.max_back_edges = most;
    return profile;
}

TEST_P(InSequence_, TakesFewDispatches) {
    SessionScope scope(emitting());
    auto f = compile([&](const Tensors& a) { return GetParam().function(a); },
                     std::vector<ArgSpec>{f32("n", "m"), i32()});
    f.call({ones({16, 32}), 3});
    EXPECT_LE(f.stats().dispatches, GetParam().dispatches);
    EXPECT_NE(f.explain().find("in sequence"), std::string::npos);
    EXPECT_LE(static_cast<int>(f.program()->kernels.size()), GetParam().dispatches);
}

/// The kernel with the most bytes of a group's memory.
const KernelInfo& most_shared(const Program& program) {
    return *std::max_element(
        program.kernels.begin(), program.kernels.end(),
        [](const auto& a, const auto& b) { return a.shared_bytes < b.shared_bytes; });
}

std::shared_ptr<const Program> sums_of(const DeviceProfile& profile, const Shape& shape) {
    SessionScope scope(emitting(profile));
    auto f = compile(
        [](const Tensors& a) {
            return many_sums({a[0], Tensor(20)});
        },
        std::vector<ArgSpec>{{f32, shape}});
    f.call({ones(shape)});
    return f.program();
}

TEST(InSequence, WhatOneGroupAloneUsesLiesInItsMemory) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        const auto program = sums_of(profile, {2, 14});
        EXPECT_EQ(program->kernels.size(), 1u) << profile.name;
        // If such memory is slower, only as much as leaves bindings that fit.
        const uint32_t least = profile.shared_loads > 1 ? 1 : 40 * 28 * 4;
        EXPECT_GE(most_shared(*program).shared_bytes, least) << profile.name;
    }
    EXPECT_LT(most_shared(*sums_of(cpu_profile(), {2, 14})).shared_bytes,
              most_shared(*sums_of(gpu_profile(), {2, 14})).shared_bytes);
}

/// Conjugate gradients for a matrix that is 4 on its diagonal and -1 beside it.
Tensor solved(Tensor b) {
    Tensor x = zeros(b.shape()), residual = b, direction = b, squared = sum(b * b);
    for (Tensor iteration : loop(5)) {
        Reader at = zero(direction);
        Tensor i = index_of(b, 0);
        Tensor image = 4.0f * direction - at(i - 1) - at(i + 1);
        Tensor length = squared / sum(direction * image);
        x += length * direction;
        residual -= length * image;
        Tensor next = sum(residual * residual);
        direction = residual + next / squared * direction;
        squared = next;
    }
    return x;
}

/// One of its kernels alone takes one group longer than a launch.
TEST(InSequence, ALoopIsOneKernelWhereAllItsLaunchesAreWorthMoreThanAllThatTakesLonger) {
    const auto kernels = [](int n) {
        SessionScope scope(emitting(cpu_profile()));
        auto f = compile(solved, {f32(n)});
        f(ones({n}));
        return f.program()->kernels.size();
    };
    EXPECT_EQ(kernels(1 << 14), 1u);
    EXPECT_EQ(kernels(56000), 5u);
}

TEST(InSequence, AGroupsMemoryIsNoLargerThanTheDeviceHas) {
    DeviceProfile profile = gpu_profile();
    profile.shared_bytes = 2048;
    expect_near(run(Session::interpreter(profile), {"", many_sums}, {{2, 14}, 3}, false),
                run(Session::oracle(), {"", many_sums}, {{2, 14}, 3}, false), "little memory");
    EXPECT_LE(most_shared(*sums_of(profile, {2, 14})).shared_bytes, 2048u);
}

TEST(InSequence, ASubgroupThatRunsAloneIsTheGroupWhereItsLoopsAreShort) {
    SessionScope scope(emitting());
    auto f = compile(leapfrog, std::vector<ArgSpec>{f32(16, 16), i32()});
    const auto group = [&](int iterations) {
        f.call({ones({16, 16}), iterations});
        return f.program()->kernels.back().group_size;
    };
    EXPECT_EQ(group(10), (std::array<uint32_t, 3>{8, 1, 1}));
    SessionScope limited(emitting(with_back_edges(200)));
    auto g = compile(
        [](const Tensors& a) {
            return leapfrog({a[0], Tensor(9)});
        },
        std::vector<ArgSpec>{f32(16, 16)});
    g.call({ones({16, 16})});
    EXPECT_EQ(g.program()->kernels.back().group_size, (std::array<uint32_t, 3>{64, 1, 1}));
    EXPECT_EQ(g.stats().dispatches, 1);
}

TEST(InSequence, AlongOneAxisStandAllInvocationsOfItsGroup) {
    SessionScope scope(emitting(gpu_profile()));
    auto f = compile(
        [](Tensor x) {
            for (Tensor iteration : loop(100)) x = 0.5f * (x + x(arange(1024) - 1));
            return x;
        },
        {f32(1024)});
    f.call({ones({1024})});
    EXPECT_EQ(f.stats().dispatches, 1);
    EXPECT_LE(f.stats().back_edges, 2 * 4 * 101);  // of 256 invocations
}

TEST(InSequence, WhatALoopStoresAndOthersSeeLiesInTheGroupsMemory) {
    SessionScope scope(emitting(gpu_profile()));
    auto f = compile(rows_and_most, std::vector<ArgSpec>{f32(16, 32), i32()});
    f.call({ones({16, 32}), 5});
    EXPECT_EQ(f.stats().dispatches, 1);
    EXPECT_GE(f.program()->kernels.back().shared_bytes, 2u * 4 * 16 * 32);
}

TEST(InSequence, LanesShareWhatHasFewerResultsThanThereAreSubgroups) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()}) {
        SessionScope scope(emitting(profile));
        auto f = compile(
            [](Tensor x) {
                for (Tensor iteration : loop(5)) x = 2.0f * x / sqrt(sum(x * x));
                return x;
            },
            {f32(512)});
        f.call({ones({512})});
        EXPECT_EQ(f.stats().dispatches, 1);
        EXPECT_NE(f.program()->kernels.back().artefact.text.find("subgroupShuffle"),
                  std::string::npos)
            << profile.name;
    }
}

TEST(InSequence, LargeOnesStayApart) {
    SessionScope scope(emitting());
    auto f = compile(leapfrog, std::vector<ArgSpec>{f32(1024, 1024), i32()});
    f.call({ones({1024, 1024}), 3});
    EXPECT_EQ(f.program()->kernels.size(), 2u);  // its initial value, and an iteration
    EXPECT_EQ(f.explain().find("in sequence"), std::string::npos);
}

/// Lanes of a CPU driver run an atomic one after the other, so all cores are needed.
TEST(InSequence, ManyAtomicsStayApart) {
    SessionScope scope(emitting());
    const auto dispatches = [](int atomics) {
        auto f = compile(
            [&](Tensor x, Tensor at) {
                Tensor y = zeros({64, 64}, i32);
                firn::kernel({64, 64}, [&](Tensor i, Tensor j) {
                    for (int k = 0; k < atomics; ++k)
                        scatter_add(y(i, (at(i, j) + k) % 64), x(i, j));
                });
                auto [i, j] = indices<2>(x.shape());
                return y + y(i, j + 1);
            },
            {i32(64, 64), i32(64, 64)});
        f.call({zeros({64, 64}, i32), zeros({64, 64}, i32)});
        return f.stats().dispatches;
    };
    EXPECT_EQ(dispatches(1), 1);
    EXPECT_GT(dispatches(8), 1);
}

TEST_P(InSequence_, GivesTheSameInChunksOfIterations) {
    for (const Given& given : {Given{{16, 32}, 19}, {{7, 5}, 12}, {{40, 64}, 13}, {{8, 8}, 25}})
        for (const int64_t most : {60, 200, 600})
            expect_near(run(Session::interpreter(with_back_edges(most)), GetParam(), given, false),
                        run(Session::oracle(), GetParam(), given, false),
                        text(given.shape) + " iterations " + std::to_string(given.iterations) +
                            " back edges " + std::to_string(most));
}

TEST(InSequence, LongLoopsAreChunksOfIterations) {
    SessionScope scope(emitting());
    auto f = compile(leapfrog, std::vector<ArgSpec>{f32(16, 16), i32()});
    f.call({ones({16, 16}), 50000});
    EXPECT_LE(f.stats().dispatches, 50);
    f.call({ones({16, 16}), 10});
    EXPECT_EQ(f.stats().dispatches, 1);
}

TEST(InSequence, ChunksAreShortenedUntilTheyFit) {
    SessionScope scope(emitting());
    // Three buffers rotate; their iterations are written out, with a remainder of two.
    auto f = compile(
        [](Tensor x) {
            Tensor before = x, now = x;
            for (Tensor iteration : loop(2047)) {
                const Tensor i = indices<1>(x.shape())[0];
                Tensor next = max(before(i - 1), now(i - 1)) * 0.5f;
                before = now, now = next;
            }
            return now;
        },
        {f32(1024)});
    EXPECT_LE(f.stats().dispatches, 4);
}

TEST(InSequence, BackEdgesAreThoseOfItsKernel) {
    SessionScope scope(emitting(with_back_edges(1000)));
    auto f = compile(pyramid, std::vector<ArgSpec>{f32(16, 32), i32()});
    f.call({ones({16, 32}), 9});
    EXPECT_LE(f.stats().back_edges, 1000);
    EXPECT_GT(f.stats().back_edges, 800) << "as many as are allowed";
}

TEST(InSequence, TheDriversLimitOnBackEdgesCutsASequence) {
    SessionScope scope(emitting(with_back_edges(40)));
    auto f = compile(pyramid, std::vector<ArgSpec>{f32(16, 32), i32()});
    f.call({ones({16, 32}), 2});
    EXPECT_GT(f.stats().dispatches, 1);
    EXPECT_LE(f.stats().back_edges, 40);
}

TEST(InSequence, BuffersThatRotateKeepTheirPlacesWhereCopiesAreDear) {
    SessionScope scope(emitting());
    const auto stores = [](const Shape& shape, int iterations) {
        auto f = compile([&](Tensor x) { return smoothed(x, Tensor(iterations)); }, {{f32, shape}});
        f(ones(shape));
        const std::string& glsl = f.program()->kernels[0].artefact.text;
        int out = 0;
        for (size_t at = 0; (at = glsl.find("] = ", at)) != std::string::npos; ++at) ++out;
        return out;
    };
    EXPECT_EQ(stores({64, 64}, 4), 3);  // its initial value, and two iterations
    EXPECT_EQ(stores({64, 64}, 5), 5);  // and one that copies
    EXPECT_EQ(stores({8, 8}, 4), 3);    // its initial value, an iteration, and a copy
}

/// Returns whether the loop's bands have a group each; the results must be the oracle's.
bool in_bands(Tensors (*function)(const Tensors&), const Given& given,
              const DeviceProfile& profile = cpu_profile()) {
    const SequenceRow row{"", function};
    expect_near(
        run(Session::interpreter(profile), row, given, false),
        run(Session::oracle(), row, given, false),
        profile.name + " " + text(given.shape) + " iterations " + std::to_string(given.iterations));
    SessionScope scope(emitting(profile));
    auto f = compile([&](const Tensors& a) { return function(a); },
                     std::vector<ArgSpec>{{f32, given.shape}, i32()});
    f.call({ones(given.shape), given.iterations});
    const bool banded = f.explain().find("a group for each band") != std::string::npos;
    EXPECT_EQ(banded, f.stats().dispatches < given.iterations);
    return banded;
}

TEST(InSequence, RowsOfALoopThatAreAloneHaveAGroupEach) {
    EXPECT_TRUE(in_bands(strings, {{90, 256}, 7}));  // an odd iteration ends in copies
    EXPECT_TRUE(in_bands(strings, {{91, 252}, 4}));
    EXPECT_TRUE(in_bands(strings, {{90, 256}, 13}, with_back_edges(400)));
    EXPECT_TRUE(in_bands(strings, {{300, 1000}, 3}, gpu_profile()));
}

TEST(InSequence, OtherRowsHaveNone) {
    EXPECT_FALSE(in_bands(tied_strings, {{300, 256}, 4}));
    EXPECT_FALSE(in_bands(strings, {{1, 70000}, 4}));                 // there are too few,
    EXPECT_FALSE(in_bands(strings, {{9000, 8}, 4}));                  // they leave lanes idle,
    EXPECT_FALSE(in_bands(strings, {{4, 17000}, 4}));                 // or they fill a core's cache
    EXPECT_FALSE(in_bands(strings, {{90, 1000}, 4}, gpu_profile()));  // a GPU has more cores
}

TEST(InSequence, WhatAGroupStoresIsSeenBehindABarrier) {
    SessionScope scope(emitting());
    auto f = compile(leapfrog, std::vector<ArgSpec>{f32(16, 32), i32()});
    f.call({ones({16, 32}), 3});
    const std::string& glsl = f.program()->kernels[0].artefact.text;
    EXPECT_NE(glsl.find("groupMemoryBarrier(); barrier();"), std::string::npos);
    EXPECT_NE(glsl.find("coherent"), std::string::npos);
}

TEST(InSequence, AnAxisOfNoneOfItsPartsStoresNothing) {
    SessionScope scope(emitting(gpu_profile()));
    auto f = compile(
        [](const Tensor& x) {
            Tensor many = zeros({2, Size(16) * ceil_div(x.size(0), 64)});
            scatter_add(many(cast<int>(x), cast<int>(x)), x);
            return Tensors{many, flip(many, {.axis = 1})};
        },
        {f32("n")});
    for (int64_t n : {0, 1, 40}) {
        std::vector<float> counts(n ? 32 : 0), flipped = counts;
        if (n > 0) counts[17] = flipped[30] = static_cast<float>(n);
        const Tensors out = f({ones({n})});
        EXPECT_EQ(out[0].to_vector<float>(), counts);
        EXPECT_EQ(out[1].to_vector<float>(), flipped);
        EXPECT_EQ(f.stats().dispatches, 1);
    }
}

TEST(InSequence, SizesThatDifferByNumbersShareAParameter) {
    SessionScope scope(emitting());
    auto f = compile(pyramid, std::vector<ArgSpec>{f32("n", "m"), i32()});
    f.call({ones({64, 64}), 2});
    EXPECT_LE(f.program()->kernels[0].param_types.size(), 10u);
}

}  // namespace
}  // namespace firn
