// Texts of native code: what is a scalar, what is one load, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "compiler/base/error.h"
#include "compiler/host/processor.h"
#include "compiler/language.h"
#include "compiler/program/program.h"
#include "compiler/target/target.h"
#include "tests/emitting.h"

namespace firn {
namespace {

/// The texts of all kernels of a function, for a device.
template <class F, size_t Arity>
std::string text_for(const DeviceProfile& profile, F function, const ArgSpec (&arguments)[Arity]) {
    SessionScope scope(emitting(profile));
    std::string all;
    const auto program = compile(function, arguments).program();
    for (const KernelInfo& kernel : program->kernels) {
        EXPECT_EQ(kernel.artefact.format, "native");
        all += kernel.artefact.text;
    }
    return all;
}

/// The same for x86-64 with vectors of so many bits.
template <class F, size_t Arity>
std::string text_of(F function, const ArgSpec (&arguments)[Arity], uint32_t bits = 256) {
    return text_for(native_profile(bits), function, arguments);
}

int count(const std::string& text, const std::string& pattern) {
    const std::regex wanted(pattern);
    return static_cast<int>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), wanted), {}));
}

TEST(NativeText, NeighboursAreOneLoadAndOneStore) {
    const std::string text = text_of([](Tensor x) { return x * 2.0f; }, {f32(4096)});
    EXPECT_GE(count(text, "load <[0-9]+ x float>"), 1) << text;
    EXPECT_GE(count(text, "store <[0-9]+ x float>"), 1) << text;
    EXPECT_EQ(count(text, "load float"), 0) << text;
    EXPECT_EQ(count(text, "extractelement"), 0) << text;
}

TEST(NativeText, TilesOfAProductLoadRowsOfNeighbours) {
    const std::string text =
        text_of([](Tensor a, Tensor b) { return matmul(a, b); }, {f32(256, 256), f32(256, 256)});
    EXPECT_GE(count(text, "load <8 x float>"), 2) << text;  // of the right factor
    EXPECT_EQ(count(text, "shufflevector <[0-9]+ x float>.*, <8 x i32> <i32 0, i32 [2-9]"), 0)
        << text;
    EXPECT_EQ(count(text, "store <8 x float> [^,]*, ptr [^,]*, align 4"),
              count(text, "store <[0-9]+ x float> [^,]*, ptr [^,]*, align 4"))
        << text;
}

TEST(NativeText, AWalkAlongColumnsLoadsPiecesOfRowsAsTheyLie) {
    const std::string text =
        text_of([](Tensor x) { return sum(x, {.axis = 0}); }, {f32(4096, 4096)});
    EXPECT_GE(count(text, "load <8 x float>"), 16)
        << text;  // two rows, as long as a group has sums
    EXPECT_EQ(count(text, "load <(16|29|32) x float>"), 0) << text;
    EXPECT_EQ(count(text, "<8 x i32> <i32 0, i32 4"), 0) << text;
}

TEST(NativeText, LanesShareRowsOfTwoVectorsAndMore) {
    for (const auto& [row, shared] :
         {std::pair(64, true), std::pair(16, true), std::pair(8, false)}) {
        const std::string text =
            text_of([](Tensor x) { return sum(x, {.axis = 1}); }, {f32(4096, row)});
        EXPECT_EQ(count(text, "masked.gather") + count(text, "load float"), 0) << text;
        // Lanes that have a row each load those of all, and transpose them.
        const int squares = count(text,
                                  "shufflevector <8 x float> [^,]*, <8 x float> [^,]*, "
                                  "<8 x i32> <i32 0, i32 8, i32 2");
        EXPECT_EQ(squares > 0, !shared) << text;
    }
}

TEST(NativeText, SubgroupsTakeTurnsAtBarriers) {
    const auto reversed = [](Tensor x) {
        Tensor y = zeros({4096});
        kernel({4096}, {.group = {64}}, [&](Tensor i) {
            const Tensor at = local_index(0), own = x(i) * 2.0f;
            Shared part = shared(f32, 64);
            part(at) = own;
            barrier();
            y(i) = part(63 - at) + own;
        });
        return y;
    };
    const std::string text = text_of(reversed, {f32(4096)});
    EXPECT_EQ(count(text, "<64 x "), 0) << text;
    EXPECT_EQ(count(text, "phi i32 .*%turn|icmp ult i32 %turn"), 3) << text;  // parts
    EXPECT_EQ(count(text, "alloca .8 x <8 x float>."), 1) << text;            // 2 x lives in both
}

// LLVM 19 loses sums of floats on ARM where its own instruction adds them.
TEST(NativeText, FloatsAreCombinedByComparing) {
    const auto text = text_of(
        [](Tensor at, Tensor x) {
            Tensor total = zeros({7});
            scatter_add(total(at), x);
            return total;
        },
        {i32("n"), f32("n")});
    EXPECT_EQ(count(text, "atomicrmw"), 0) << text;
    EXPECT_GE(count(text, "cmpxchg"), 1) << text;
}

TEST(NativeText, ARowGoesPastTheCachesWhereTheCallSaysSo) {
    const std::string text = text_of([](Tensor x) { return x * 2.0f; }, {f32(4096)});
    EXPECT_EQ(count(text, "!nontemporal !0"), count(text, "store <[0-9]+ x float>") / 2) << text;
    EXPECT_GE(count(text, "!nontemporal !0"), 1) << text;
    EXPECT_EQ(count(text, "call void @llvm.x86.sse.sfence"), 1) << text;
    const std::string sums = text_of([](Tensor x) { return sum(x); }, {f32(4096)});
    EXPECT_EQ(count(sums, "sfence"), 0) << sums;
}

TEST(NativeText, NeighboursOfEachLaneAreRowsThatAreTransposed) {
    const auto rows = [](int64_t stride) {
        return text_of(
            [=](Tensor x) {
                Tensor out = zeros({Size(512 * 16)});
                kernel({Size(512)}, [&](const Tensor& i) {
                    std::vector<Tensor> values;
                    for (int k = 0; k < 8; ++k) values.push_back(unchecked(x)(i * stride + k));
                    for (int k = 0; k < 8; ++k) store(out(i * stride + k), values[size_t(7 - k)]);
                });
                return out;
            },
            {f32(512 * 16)});
    };
    for (const int64_t stride : {16, 8}) {
        const std::string text = rows(stride);
        EXPECT_EQ(count(text, "@llvm.masked.gather|extractelement|load float|store float"), 0)
            << text;
        EXPECT_EQ(count(text, "load <8 x float>") % 8, 0) << text;
        // Once past the caches, and once not; four are of zeros.
        EXPECT_EQ(count(text, "store <8 x float>"), 2 * (count(text, "load <8 x float>") + 4))
            << text;
        EXPECT_EQ(count(text, "shufflevector <8 x float> [^,]*, <8 x float> %"),
                  6 * count(text, "load <8 x float>"))
            << text;
    }
    // Rows of which two lanes have the same elements are no such ones.
    EXPECT_GE(count(rows(7), "extractelement"), 8);
}

TEST(NativeText, AClampedIndexIsARowWhereItsVectorIsInside) {
    const std::string text = text_of(
        [](Tensor x) {
            auto [i, j] = indices<2>(x.shape());
            return x(i, j - 1) + x(i, j + 1);
        },
        {f32(256, 256)});
    // One branch for each of the two edges, with a row on one side and lanes on the other.
    EXPECT_GE(count(text, "br i1 [^,]*, label %row"), 2) << text;
    EXPECT_GE(count(text, "phi <8 x float> \\[[^\\]]*, %row"), 2) << text;
}

TEST(NativeText, LanesThatAreClampedTakeTheElementsAtTheEdges) {
    const std::string text = text_of(
        [](Tensor x) {
            auto [i, j] = indices<2>(x.shape());
            return x(i, j - 1);
        },
        {f32(256, 256)});
    EXPECT_GE(count(text, "call <8 x float> @llvm.masked.load"), 1) << text;
    EXPECT_EQ(count(text, "extractelement <8 x i32>"), 0) << text;
}

TEST(NativeText, NeighboursAtPlacesOfEachLaneAreLoadedTogether) {
    const auto around = [](std::vector<int> rows, std::vector<int> columns) {
        return [=](Tensor x, Tensor at) {
            Tensor sum = 0.0f;
            for (int a : rows)
                for (int b : columns) sum = sum * 0.5f + x(at + a, at * 3 + b);
            return sum;
        };
    };
    const auto text = [&](std::vector<int> rows, std::vector<int> columns, uint32_t bits) {
        return text_of(around(rows, columns), {f32(64, 64), i32(4096)}, bits);
    };
    for (const uint32_t bits : {128U, 256U, 512U}) {
        const int lanes = static_cast<int>(bits) / 32;
        // One question for all rows of a vector, and a load of each lane for each of them.
        const auto expect = [&](const std::string& got, int rows, int width) {
            const int vectors = count(got, "br i1 [^,]*, label %neighbours");
            const std::string load = "load <" + std::to_string(width) + " x float>";
            EXPECT_GE(vectors, 1) << got;
            EXPECT_EQ(count(got, load), vectors * rows * lanes) << got;
        };
        expect(text({0, 1}, {0, 1}, bits), 2, 2);
        expect(text({-1, 0}, {-1, 0, 1, 2}, bits), 2, 4);
        expect(text({0}, {3, 1, 2}, bits), 1, 4);
        // No neighbours: every other element, or one of each row.
        EXPECT_EQ(count(text({0}, {0, 2}, bits), "label %neighbours"), 0);
        EXPECT_EQ(count(text({0, 1}, {0}, bits), "label %neighbours"), 0);
    }
}

TEST(NativeText, WhatOnlyClampedNeighboursAreMadeOfStandsBesideThem) {
    const std::string text = text_of(
        [](Tensor x, Tensor at) {
            const Reader inside = zero(x);
            return inside(at, at * 3) + inside(at, at * 3 + 1) * 2.0f +
                   inside(at + 1, at * 3) * 3.0f + inside(at + 1, at * 3 + 1) * 4.0f;
        },
        {f32(64, 64), i32(4096)});
    // Where no index is clamped, no element is left out, and the least index alone is computed.
    const std::string likely = std::regex_replace(text, std::regex("\napart[0-9]+:[^:]*"), "\n");
    const int vectors = count(text, "\napart[0-9]+:");
    EXPECT_GE(vectors, 1) << text;
    EXPECT_EQ(count(likely, "= select <8 x i1>"), 0) << likely;
    EXPECT_EQ(count(likely, "call <8 x i32> @llvm.smin"), 2 * vectors) << likely;
    EXPECT_EQ(count(text, "= select <8 x i1>"), 4 * vectors) << text;
    EXPECT_EQ(count(text, "call <8 x i32> @llvm.smin"), 4 * vectors) << text;
}

TEST(NativeText, ALoadThatABoundGuardsIsOneMaskedLoad) {
    const std::string text = text_of(
        [](Tensor x) {
            auto [i, j] = indices<2>(x.shape());
            return zero(x)(i, j - 1);
        },
        {f32(256, 256)});
    // Only the row is loaded, and not the elements at its ends.
    EXPECT_GE(count(text, "call <8 x float> @llvm.masked.load[^\n]*zeroinitializer"), 1) << text;
    EXPECT_EQ(count(text, "call <8 x float> @llvm.masked.load"),
              count(text, "call <8 x float> @llvm.masked.load[^\n]*zeroinitializer"))
        << text;
}

TEST(NativeText, FloatsBecomeIntegersAllLanesAtOnce) {
    const auto words = [](Tensor x) { return x.as(i32); };
    const auto wide = [](Tensor x) { return x.as(i64); };
    const std::string text = text_of(words, {f32(4096)});
    EXPECT_EQ(count(text, "call <8 x i32> @llvm.fptosi.sat"), 0) << text;
    EXPECT_GE(count(text, "= fptosi <8 x float> [^ ]* to <8 x i32>"), 1) << text;
    // Where there is no instruction for whole vectors, and where that one saturates.
    EXPECT_GE(count(text_of(wide, {f32(4096)}), "call <8 x i64> @llvm.fptosi.sat"), 1);
    EXPECT_EQ(count(text_of(wide, {f32(4096)}, 512), "call <[0-9]+ x i64> @llvm.fptosi.sat"), 0);
    const DeviceProfile arm = profile_of_processor(processor_named("aarch64+neon", "a test"));
    EXPECT_GE(count(text_for(arm, words, {f32(4096)}), "call <4 x i32> @llvm.fptosi.sat"), 1);
}

TEST(NativeText, VectorsOnTheStackDoNotLieAcrossLines) {
    const auto text = [](uint32_t bits) {
        return text_of([](Tensor x) { return x * 2.0f; }, {f32(4096)}, bits);
    };
    EXPECT_EQ(count(text(512), "attributes #0 = .* alignstack=64 "), 1);
    EXPECT_EQ(count(text(256), "attributes #0 = .* alignstack=32 "), 1);
    EXPECT_EQ(count(text(128), "alignstack"), 0);
}

TEST(NativeText, AVectorIsChosenUnderAMask) {
    const std::string text =
        text_of([](Tensor x, Tensor c) { return select(c > 0.0f, x, -1.0f); }, {f32(4096), f32()});
    EXPECT_GE(count(text, "select <8 x i1> [^,]*, <8 x float>"), 1) << text;
    EXPECT_EQ(count(text, "select i1 [^,]*, <8 x float>"), 0) << text;
}

TEST(NativeText, IndicesThatTurnOutToBeNeighboursAreARow) {
    const auto of_channels = [](Tensor x) {
        auto [i, j, k] = indices<3>(x.shape());
        return x(i, j + 1, k);
    };
    EXPECT_GE(count(text_of(of_channels, {f32(64, 64, 4)}), "br i1 [^,]*, label %row"), 1);
    // Not those that come from memory.
    const auto of_data = [](Tensor x, Tensor at) { return x(at); };
    EXPECT_EQ(count(text_of(of_data, {f32(4096), i32(4096)}), "label %row"), 0);
}

TEST(NativeText, NeighboursOfAnIndexShareItsAddress) {
    const std::string text = text_of(
        [](Tensor x) {
            auto [i] = indices<1>({Size(4096)});
            return unchecked(x)(i) + unchecked(x)(i + 3);
        },
        {f32(5000)});
    EXPECT_GE(count(text, "add i64 [^,]*, 3\n"), 1) << text;
    EXPECT_EQ(count(text, "add i32 [^,]*, 3\n"), count(text, "add i64 [^,]*, 3\n")) << text;
}

TEST(NativeText, ASumIsWrittenAsSoonAsItsTermsAre) {
    const std::string text =
        text_of([](Tensor a, Tensor b) { return matmul(a, b); }, {f32(256, 256), f32(256, 256)});
    // The first product of a tile is added before most of the right factor's rows are loaded.
    const std::string before = text.substr(0, text.find("= call <8 x float> @llvm.fma"));
    EXPECT_LT(4 * count(before, "load <8 x float>"), count(text, "load <8 x float>")) << text;
}

TEST(NativeText, AProductThatAConditionLeavesOutIsRoundedWithItsSum) {
    const std::string text = text_of(
        [](Tensor g, Tensor w) {
            auto [i, p] = indices<2>({Size(4096), Size(900)});
            return sum(select(i + p < 4000, unchecked(g)(i + p) * w(p), 0.0f), {.axis = 1});
        },
        {f32(5000), f32(900)});
    EXPECT_GE(count(text, "@llvm.fma.v8f32\\("), 1) << text;
}

TEST(NativeText, AFunctionThatTwoLoopsComputeIsKept) {
    const auto calls = [](auto function, const std::string& kept) {
        const std::string text = text_of(function, {f32(64, 1024)});
        EXPECT_EQ(count(text, "%kept = alloca \\[" + kept), kept.empty() ? 0 : 1) << text;
        return count(text, "call <8 x float> @[A-Za-z_0-9.]*[Ee]xp");
    };
    const auto powers = [](Tensor x) { return exp(x - max(x, {.axis = 1, .keep_dims = true})); };
    const int once = calls([=](Tensor x) { return sum(powers(x), {.axis = 1}); }, "");
    EXPECT_GE(once, 1);
    const auto quotient = [](Tensor a, Tensor b) {
        return a / sum(b, {.axis = 1, .keep_dims = true});
    };
    EXPECT_EQ(calls([=](Tensor x) { return quotient(powers(x), powers(x)); }, "4096 x i8"), once);
    // Not functions of different values.
    EXPECT_EQ(calls([=](Tensor x) { return quotient(powers(x * 2.0f), powers(x)); }, ""), 2 * once);
}

TEST(NativeText, ABoundIsOneComparison) {
    // For each vector that is loaded.
    const auto comparisons = [](auto function) {
        const std::string text = text_of(function, {f32(4096)});
        return count(text, "fcmp") / std::max(1, count(text, "load <8 x float>"));
    };
    EXPECT_EQ(comparisons([](Tensor x) { return max(x, -1.0f); }), 1);
    EXPECT_EQ(comparisons([](Tensor x) { return max(x, 0.0f); }), 1);
    // A comparison does not tell 0 and -0 apart.
    EXPECT_GT(comparisons([](Tensor x) { return min(x, 0.0f); }), 1);
}

TEST(NativeText, AFunctionOfFewCallsIsInlined) {
    const std::string few = text_of([](Tensor x) { return exp(x); }, {f32(4096)});
    EXPECT_EQ(count(few, "@Exp_f32_v\\([^)]*\\) alwaysinline"), 1) << few;
    const std::string many = text_of(
        [](Tensor x) {
            for (int k = 0; k < 60; ++k) x = exp(x * 0.5f);
            return x;
        },
        {f32(4096)});
    EXPECT_EQ(count(many, "alwaysinline"), 0);
}

TEST(NativeText, CountsOfAGroupNeedNoAtomics) {
    const std::string text = text_of([](Tensor x) { return bincount(x, 256); }, {i32(1 << 22)});
    EXPECT_GE(count(text, "add i32 [^\n]*\n  store i32"), 8) << text;
    EXPECT_LE(count(text, "atomicrmw"), 16) << text;  // of the copy's elements to the target
}

TEST(NativeText, AValueThatIsEqualInAllLanesIsAScalar) {
    const std::string text =
        text_of([](Tensor x, Tensor y) { return x + sqrt(y(0)); }, {f32(4096), f32(4096)});
    EXPECT_EQ(count(text, "call float @llvm.sqrt.f32"), 1) << text;
    EXPECT_EQ(count(text, "call <8 x float> @llvm.sqrt"), 0) << text;
}

TEST(NativeText, ALoopThatLanesLeaveAtDifferentTimesHasAMask) {
    const std::string text = text_of(
        [](Tensor x) {
            Tensor y = x;
            while_([&] { return y > 1.0f; }, [&] { y = y * 0.5f; });
            return y;
        },
        {f32(4096)});
    EXPECT_GE(count(text, "phi <8 x i1>"), 1) << text;
}

TEST(NativeText, ShortRowsFillVectors) {
    const std::string text = text_of([](Tensor x, Tensor b) { return x * unsqueeze(b, 0) + 1.0f; },
                                     {f32(4096, 32), f32(32)}, 512);
    EXPECT_GE(count(text, "load <16 x float>"), 2) << text;
    EXPECT_EQ(count(text, "gather"), 0) << text;
}

TEST(NativeText, FunctionsRoundAProductWithTheOnlySumThatTakesIt) {
    const auto all = [](Tensor x) { return exp(x) + tanh(x) + sin(x); };
    EXPECT_GE(count(text_of(all, {f32(4096)}, 512), "call <16 x float> @llvm.fma.v16f32"), 20);
    EXPECT_GE(count(text_of(all, {f64(4096)}, 512), "call <16 x double> @llvm.fma.v16f64"), 20);
    EXPECT_EQ(count(text_of(all, {f32(4096)}, 128), "@llvm.fma"), 0);
    // What the calls of a kernel multiply and add themselves is rounded as it stands.
    EXPECT_EQ(count(text_of([](Tensor x) { return x * 3.0f + 1.0f; }, {f32(4096)}), "@llvm.fma"),
              0);
}

TEST(NativeText, ProcessorsWithoutThatInstructionRoundProductsByThemselves) {
    const std::string product = text_of([](Tensor a, Tensor b) { return matmul(a, b); },
                                        {f32(256, 256), f32(256, 256)}, 128);
    EXPECT_EQ(count(product, "@llvm.fma"), 0) << product;
    EXPECT_GE(count(product, "fmul <4 x float>"), 1) << product;
}

TEST(NativeText, TheProductsOfALongSumAreRoundedWithItAndNothingElseIsAllowed) {
    const std::string product =
        text_of([](Tensor a, Tensor b) { return matmul(a, b); }, {f32(256, 256), f32(256, 256)});
    EXPECT_GE(count(product, "call <8 x float> @llvm.fma.v8f32"), 1) << product;
    const std::string text =
        text_of([](Tensor x, Tensor y) { return x * y + exp(x); }, {f32(4096), f32(4096)});
    // The function has its own; the kernel that calls it has none.
    EXPECT_EQ(count(text.substr(0, text.find("define internal")), "call <8 x float> @llvm.fma"), 0)
        << text;
    EXPECT_EQ(count(text, "(fast|contract|reassoc|nnan|ninf|nsz|arcp|afn|nsw|nuw) "), 0) << text;
    EXPECT_EQ(count(text, "define internal <8 x float> @Exp_f32"), 1) << text;
}

TEST(NativeText, WhatAProcessorCanDoIsARowOfTheTable) {
    const DeviceProfile arm = profile_of_processor(processor_named("aarch64+neon", "a test"));
    const auto product = [](Tensor a, Tensor b) { return matmul(a, b); };
    const std::string fused = text_for(arm, product, {f32(256, 256), f32(256, 256)});
    EXPECT_GE(count(fused, "call <4 x float> @llvm.fma.v4f32"), 1) << fused;
    EXPECT_EQ(count(fused, "nontemporal|sfence"), 0) << fused;
    // Twice as many registers hold more sums than those of the same width do.
    const auto sums = [](const std::string& text) { return count(text, "= phi <4 x float>"); };
    EXPECT_GT(sums(fused), sums(text_of(product, {f32(256, 256), f32(256, 256)}, 128))) << fused;

    const auto near_edge = [](Tensor x) {
        auto [i, j] = indices<2>(x.shape());
        return rsqrt(zero(x)(i, j - 1) + 1.0f);
    };
    const std::string plain = text_for(arm, near_edge, {f32(256, 256)});
    EXPECT_EQ(count(plain, "@llvm.masked|@llvm.x86"), 0) << plain;
    EXPECT_GE(count(plain, "@llvm.sqrt.v4f32"), 1) << plain;
    EXPECT_EQ(text_for(profile_of_processor(processor_named("avx512", "a test")), near_edge,
                       {f32(256, 256)}),
              text_of(near_edge, {f32(256, 256)}, 512));
}

TEST(NativeText, ADeviceThatIsNoProcessorIsRefused) {
    DeviceProfile unknown = native_profile(128);
    unknown.processor = "z80";
    EXPECT_THROW(text_for(unknown, [](Tensor x) { return x * 2.0f; }, {f32(4096)}), InternalError);
}

}  // namespace
}  // namespace firn
