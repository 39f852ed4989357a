// Elements that are only used inside a range are loaded with their neighbours.
#include <gtest/gtest.h>

#include <string>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/emitting.h"

namespace firn {
namespace {

using OfOne = Tensor (*)(Tensor);

/// The mean of the neighbours, but at the borders: by slices, and by a choice.
Tensor by_slices(Tensor x) {
    const auto in = range(1, -1), before = range(0, -2), after = range(2, none);
    x(in, in) = 0.25f * (x(before, in) + x(after, in) + x(in, before) + x(in, after));
    return x;
}
Tensor by_choice(Tensor x) {
    auto [i, j] = indices<2>(x.shape());
    Tensor inside = (i > 0) & (i < x.size(0) - 1) & (j > 0) & (j < x.size(1) - 1);
    return where(inside, 0.25f * (x(i - 1, j) + x(i + 1, j) + x(i, j - 1) + x(i, j + 1)), x);
}
/// Each second row, with the one before: the stored value is evaluated at a multiple.
Tensor by_rows(Tensor x) {
    x(range(1, none, 2), all) = x(range(0, -1, 2), all) * 2.0f;
    return x;
}
Tensor beside_zeros(Tensor x) { return pad(x, {.before = {2, 3}, .after = {1, 5}}) * 2.0f; }
Tensor joined(Tensor x) { return concat({x(range(0, 20), all), x(range(3, none), all) + 1.0f}); }
Tensor in_another_shape(Tensor x) {
    Tensor y = reshape(x, {x.size(1), x.size(0)});
    y(range(2, -2), all) = y(range(0, -4), all) + y(range(4, none), all);
    return y;
}
/// Neighbours in a part of a tensor: behind its edge there are others, which are not asked for.
Tensor in_a_part(Tensor x) {
    Tensor part = 2.0f * x(range(2, -3), range(1, -1));
    auto [i, j] = indices<2>(part.shape());
    return part(i - 1, j) - part(i + 2, j) + part(i, j - 1) * part(i, j + 1);
}
/// Halved until it is small: at the borders, where it is not used, that may take long.
Tensor halved(Tensor x) {
    const auto in = range(1, -1);
    Tensor y = x(range(2, none), in);
    for (Tensor iteration : loop(20)) {
        y *= 0.5f;
        if_(y < 0.1f, [&] { break_(); });
    }
    x(in, in) = y;
    return x;
}

std::vector<float> guarded(OfOne f, int64_t side, const Session& session) {
    SessionScope scope(session);
    const auto compiled = compile([=](Tensor x) { return f(x); }, {f32(side, side)});
    return compiled(rand({side, side}, {.seed = 5})).to_vector<float>();
}
void expect_oracles(OfOne f) {
    for (int64_t side : {32, 37})
        EXPECT_EQ(guarded(f, side, Session::interpreter()), guarded(f, side, Session::oracle()))
            << side;
}

std::string text_of_guarded(OfOne f) {
    SessionScope scope(emitting());
    return compile([=](Tensor x) { return f(x); }, {f32(64, 64)})
        .program()
        ->kernels.at(0)
        .artefact.text;
}
/// Loads of single elements, where others are of four.
size_t single_loads(OfOne f) {
    const std::string glsl = text_of_guarded(f);
    size_t out = 0;
    for (size_t at = glsl.find(")).x"); at != std::string::npos; at = glsl.find(")).x", at + 1))
        ++out;
    return out;
}

TEST(GuardedLoads, NeighboursInSlicesAreThoseOfAChoice) {
    EXPECT_GT(single_loads(by_choice), 0u);  // beside the block of an invocation
    EXPECT_EQ(single_loads(by_slices), single_loads(by_choice));
}

TEST(GuardedLoads, GiveWhatTheOracleGives) {
    expect_oracles(by_slices);
    expect_oracles(by_rows);
    expect_oracles(beside_zeros);
    expect_oracles(joined);
    expect_oracles(in_another_shape);
}

TEST(GuardedLoads, TheEdgeOfAPartIsAnEdge) { expect_oracles(in_a_part); }

TEST(GuardedLoads, WhatIsPromisedIsNotAskedOutside) {
    constexpr int64_t kSide = 64, kFar = 1 << 20;  // the values at the borders
    const auto read = [](Tensor x, Tensor places, Tensor line) {
        const auto in = range(1, -1);
        x(in, in) = unchecked(line)(places(in, in));
        return x;
    };
    SessionScope scope(emitting());
    const auto compiled = compile(read, {f32(kSide, kSide), i32(kSide, kSide), f32(50)});
    const std::string glsl = compiled.program()->kernels.at(0).artefact.text;
    EXPECT_NE(glsl.find("max(0, "), std::string::npos) << glsl;
    std::vector<int> places(kSide * kSide, kFar);
    for (int64_t i = 1; i < kSide - 1; ++i)
        for (int64_t j = 1; j < kSide - 1; ++j) places[size_t(i * kSide + j)] = int(7 * i + j) % 50;
    const auto got =
        compiled(zeros({kSide, kSide}), tensor(places, {kSide, kSide}), arange(50).as(f32))
            .to_vector<float>();
    for (size_t k = 0; k < got.size(); ++k)
        EXPECT_EQ(got[k], places[k] == kFar ? 0.0f : float(places[k]));
}

TEST(GuardedLoads, ALoopIsNotAskedOutside) {
    EXPECT_NE(text_of_guarded(halved).find("max(0, "), std::string::npos);
    expect_oracles(halved);
}

}  // namespace
}  // namespace firn
