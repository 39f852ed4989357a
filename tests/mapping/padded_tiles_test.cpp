// Tiles that do not divide their range: copies behind the end load elements inside, and store
// nothing.
#include "compiler/driver/compile.h"
#include "compiler/kernel/place.h"
#include "compiler/language.h"
#include "compiler/mapping/steps.h"
#include "tests/emitting.h"
#include "tests/mapping/mapped_case.h"

namespace firn {
namespace {

/// x at a place beside each index of `shape`.
Ref beside(Builder& b, const Ref& x, const Shape& shape, const std::vector<Ref>& by,
           Bounds outside) {
    std::vector<Ref> at;
    for (size_t d = 0; d < by.size(); ++d)
        at.push_back(elementwise(b, Op::Add, {index(b, shape, static_cast<int>(d)), by[d]}));
    return gather(b, x, at, std::vector<Bounds>(by.size(), outside), scalar_int(0));
}

/// The neighbours of each element, and itself turned around.
Case cross_sums(int64_t h, int64_t w) {
    Case test;
    const Shape shape{Size(h), Size(w)};
    Ref x = test.argument(i32, shape), out;
    for (const auto& [dy, dx] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 2}}) {
        const Ref y = beside(test.b, x, shape, {constant_int(test.b, dy), constant_int(test.b, dx)},
                             Bounds::Clamp);
        out = out ? elementwise(test.b, Op::Add, {out, y}) : y;
    }
    std::vector<Ref> back;
    for (int d : {0, 1})
        back.push_back(elementwise(
            test.b, Op::Sub, {constant_int(test.b, (d ? w : h) - 1), index(test.b, shape, d)}));
    out =
        elementwise(test.b, Op::Mul,
                    {out, gather(test.b, x, back, {Bounds::Clamp, Bounds::Clamp}, scalar_int(0))});
    test.graph.results = {out};
    return test;
}

/// A sum over windows of 3 by 3 that lie inside, of an i32 that says where else to read.
Case window_sums(int64_t h, int64_t w) {
    Case test;
    const Shape shape{Size(h - 2), Size(w - 2), Size(3), Size(3)};
    Ref x = test.argument(i32, {Size(h), Size(w)}),
        weights = test.argument(i32, {Size(3), Size(3)});
    Ref read =
        beside(test.b, x, shape, {index(test.b, shape, 2), index(test.b, shape, 3)}, Bounds::Clamp);
    Ref weight = gather(test.b, weights, {index(test.b, shape, 2), index(test.b, shape, 3)},
                        {Bounds::Clamp, Bounds::Clamp}, scalar_int(0));
    Ref there = gather(test.b, x, {read, index(test.b, shape, 1)}, {Bounds::Wrap, Bounds::Clamp},
                       scalar_int(0));
    Ref term = elementwise(test.b, Op::Mul, {elementwise(test.b, Op::Sub, {read, there}), weight});
    test.graph.results = {reduce(test.b, ReduceOp::Sum, term, {2, 3}, false)};
    return test;
}

/// Sums of neighbours along a line of n, `shorter` fewer.
Case line_sums(int64_t n, int64_t shorter) {
    Case test;
    const Shape shape{Size(n - shorter)};
    Ref x = test.argument(i32, {Size(n)});
    const auto at = [&](int64_t by) {
        return beside(test.b, x, shape, {constant_int(test.b, by)}, Bounds::Clamp);
    };
    test.graph.results = {
        elementwise(test.b, Op::Sub, {at(1), elementwise(test.b, Op::Mul, {at(-1), at(2)})})};
    return test;
}

void expect_oracle(const Case& test, const std::string& words) {
    const DeviceProfile profile = cpu_profile();
    const HostTensor expected = interpret(test.graph, test.args, test.env)[0];
    const std::optional<Mapping> mapping = parse_mapping(words);
    ASSERT_TRUE(mapping) << words;
    KernelCode ready = lowered(test);
    place(ready);
    const KernelCode code = map_kernel(ready, *mapping, profile, test.facts);
    verify(code, KernelStage::Mapped, "map");
    const HostTensor got = run(test, code, profile.subgroup_size);
    for (int64_t k = 0; k < expected.elements(); ++k)
        ASSERT_EQ(text(got.at(k)), text(expected.at(k)))
            << "element " << k << " by " << words << "\n"
            << print(code);
}

TEST(PaddedTiles, ComputeWhatTheOracleDoes) {
    for (const auto& [h, w] : {std::pair{5, 67}, {9, 132}, {3, 99}, {34, 66}})
        for (const char* words :
             {"tile 4 group 8x1", "tile 1x4 group 8x2", "tile 4x4 group 8x2", "tile 3x5 group 8x1",
              "tile 2x8 group 16x1 whole 3", "tile 4x4 group 8x1 whole 3 unroll 2",
              "tile 4x2 strides 2 group 8x1", "tile 8x8 group 8x1 shuffle 8 whole 3"}) {
            SCOPED_TRACE(std::to_string(h) + " x " + std::to_string(w));
            expect_oracle(cross_sums(h, w), words);
            expect_oracle(window_sums(h, w), words);
        }
}

TEST(PaddedTiles, LinesOfAnyLength) {
    for (int64_t n : {61, 64, 66, 67, 131})
        for (int64_t shorter : {0, 1, 2, 3})
            for (const char* words : {"tile 4 group 8x1", "tile 4 strides 2 group 8x1"}) {
                SCOPED_TRACE(std::to_string(n) + " - " + std::to_string(shorter));
                expect_oracle(line_sums(n, shorter), words);
            }
}

TEST(PaddedTiles, LinesOfAnyLengthAreStoredInBlocks) {
    SessionScope scope(emitting(cpu_profile()));
    const auto differences = [](Tensor x) { return x(range(1, none)) - x(range(0, -1)); };
    for (int64_t n = 1 << 18; n < (1 << 18) + 4; ++n) {
        const auto text = compile(differences, {f32(n)}).program()->kernels.at(0).artefact.text;
        EXPECT_NE(text.find("= vec4("), std::string::npos) << text;
    }
    // A block of f64 would reach further behind the end than memory does.
    const auto wide = compile(differences, {f64(1 << 18)}).program()->kernels.at(0).artefact.text;
    EXPECT_NE(wide.find("if ("), std::string::npos) << wide;
}

TEST(PaddedTiles, ALineInALongerTensorEndsWhereItEnds) {
    constexpr int64_t kLine = (1 << 16) + 1;
    const auto values = [](const Session& session) {
        SessionScope scope(session);
        const auto f = compile(
            [](Tensor y, Tensor x) {
                firn::kernel({kLine}, [&](Tensor i) { y(i) = x(i + 1) - x(i); });
                return y;
            },
            {f32(kLine + 9), f32(kLine + 1)});
        return f(ones({kLine + 9}), rand({kLine + 1}, {.seed = 2})).to_vector<float>();
    };
    EXPECT_EQ(values(Session::interpreter()), values(Session::oracle()));
}

std::string cross_mapping(int64_t h, int64_t w, const DeviceProfile& profile) {
    SessionScope scope(emitting(profile));
    auto f = compile(
        [](Tensor u) {
            auto [i, j] = indices<2>(u.shape());
            return u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1);
        },
        {f32(h, w)});
    return f.program()->kernels.at(0).mapping;
}

TEST(PaddedTiles, StencilsOfAnySizeHaveTheTilesOfRoundOnes) {
    for (const DeviceProfile& profile : {cpu_profile(), gpu_profile()})
        EXPECT_EQ(cross_mapping(4095, 4095, profile), cross_mapping(4096, 4096, profile));
}

TEST(PaddedTiles, WhereMuchWouldLieBehindTheEndTilesDivide) {
    const DeviceProfile profile = cpu_profile();
    EXPECT_EQ(parse_mapping(cross_mapping(9, 1 << 20, profile))->tile_of(1), 1);
    EXPECT_EQ(parse_mapping(cross_mapping(12, 1 << 20, profile))->tile_of(1), 4);
}

TEST(PaddedTiles, WindowsOfAnySizeShareWhatTheyLoad) {
    const auto mapping = [](int64_t side) {
        SessionScope scope(emitting(cpu_profile()));
        auto f = compile(
            [](Tensor x, Tensor w) {
                auto [i, j, k, l] = indices<4>({x.size(0) - 2, x.size(1) - 2, 3, 3});
                return sum(x(i + k, j + l) * w(k, l), {.axis = {2, 3}});
            },
            {f32(side, side), f32(3, 3)});
        return *parse_mapping(f.program()->kernels.at(0).mapping);
    };
    for (int64_t side : {1023, 1024, 1026}) {
        EXPECT_EQ(mapping(side).tile_of(0), 4) << side;
        EXPECT_EQ(mapping(side).tile_of(1), 4) << side;
    }
}

}  // namespace
}  // namespace firn
