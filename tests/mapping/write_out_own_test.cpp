// Loops over arrays of an invocation's own are written out, so that these lie in registers.
#include "compiler/mapping/behind/write_out_own.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/emitting.h"

namespace firn {
namespace {

/// The median of so many neighbours, sorted by exchanging.
Tensor median_of(int64_t width, const Tensor& x) {
    Tensor y = zeros(x.shape());
    kernel(x.shape(), [&](Tensor i) {
        Local a = local(f32, int(width));
        for (Tensor k : loop(width)) a(k) = x(i + k);
        for (Tensor iteration : loop(width))
            for (Tensor k : loop(width - 1)) {
                Tensor low = min(a(k), a(k + 1)), high = max(a(k), a(k + 1));
                a(k) = low, a(k + 1) = high;
            }
        y(i) = a(width / 2);
    });
    return y;
}

/// Returns how often each of eight values occurs, by arrays that are indexed by them.
Tensor most_frequent(int64_t, const Tensor& x) {
    Tensor y = zeros(x.shape());
    kernel(x.shape(), [&](Tensor i) {
        Local counts = local(i32, 8);
        for (Tensor k : loop(7)) counts(cast<int>(x(i + k) * 8.0f)) += 1;
        Tensor most = 0;
        for (Tensor k : loop(8)) most = max(most, counts(k) * 8 + k);
        y(i) = cast<float>(most);
    });
    return y;
}

using OwnMemory = Tensor (*)(int64_t, const Tensor&);

std::string text_of(OwnMemory f, int64_t width, const DeviceProfile& profile = cpu_profile()) {
    SessionScope scope(emitting(profile));
    return compile([=](Tensor x) { return f(width, x); }, {f32(1000)})
        .program()
        ->kernels.at(0)
        .artefact.text;
}
size_t times(const std::string& text, const std::string& word) {
    size_t out = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++out;
    return out;
}

TEST(WriteOutOwn, LoopsThatSayWhereAnArrayIsReached) {
    const std::string text = text_of(median_of, 9);
    EXPECT_EQ(times(text, "[[unroll]]"), 3u) << text;  // what clears it, and what fills and sorts
    EXPECT_EQ(times(text, "[[dont_unroll]]"), 1u) << text;  // how often it goes through all
}

TEST(WriteOutOwn, LoopsThatAreLongTogetherStay) {
    EXPECT_EQ(times(text_of(median_of, 240), "[[unroll]]"), 0u);
}

TEST(WriteOutOwn, WhatValuesReachStaysInMemory) {
    const std::string text = text_of(most_frequent, 0);
    EXPECT_EQ(times(text, "[[dont_unroll]]"), 2u) << text;
}

TEST(WriteOutOwn, GpusDecideThemselves) {
    EXPECT_EQ(times(text_of(median_of, 9, gpu_profile()), "unroll]]"), 0u);
}

TEST(WriteOutOwn, TheValuesStayTheSame) {
    for (OwnMemory f : {median_of, most_frequent}) {
        const auto run = [&](const Session& session) {
            SessionScope scope(session);
            return f(9, rand({1000}, {.seed = 9})).to_vector<float>();
        };
        EXPECT_EQ(run(Session::interpreter()), run(Session::oracle()));
    }
}

}  // namespace
}  // namespace firn
