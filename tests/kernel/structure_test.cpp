// Tests which kernels are equal in structure.
#include "compiler/kernel/structure.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/language.h"

namespace firn {
namespace {

/// A loop, a branch, a division of indices, a range test, loads and stores.
constexpr const char* kText = R"(kernel rows
  group_size 64 1 1
  groups floordiv(n + 63, 64); 1; 1
  guards 1
  placed
  b0 f32[n] storage of 0
  b1 f32[n] storage written of 1
  b2 i32[n] storage written of 2
  p0 i32 = n
  p1 f32 argument 2
  g0 group < floordiv(n + 63, 64)
  t1 invocation < 64
  k2 serial count 8 most 8
{
  %20 = Mul i32 g0 64 in 0 2147483584 mod 64 0
  %21 = Add i32 %20 t1 in 0 2147483647
  %22 = Div i32 %21 8 in 0 268435455
  %23 = LessEqual bool 0 %22
  %24 = Less bool %22 8
  %25 = And bool %23 %24
  %26 = For k2 0.0 1.0 {
    arg %27 f32
    arg %28 f32
    %29 = Load f32 b0 k2
    %30 = Add f32 %27 %29
    %31 = Mul f32 %28 p1
    yield %30 %31
  }
  %32 = Result f32 %26
  %33 = Result f32 #1 %26
  ! %36 = Branch guard %25 {
    ! %34 = Store f32 b1 %21 %32
    ! %35 = Store i32 b2 %21 %22
  } else {
    ! %37 = Store f32 b1 %21 %33
  }
}
)";

/// The text with `from`, which stands in it, written as `to` everywhere.
std::string with(std::string text, const std::string& from, const std::string& to) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

KernelStructure structure(const std::string& text) { return structure_of(parse_kernel(text)); }

void expect_same(const std::string& from, const std::string& to) {
    const KernelStructure one = structure(kText), other = structure(with(kText, from, to));
    EXPECT_EQ(one.hash, other.hash) << from << " as " << to;
    EXPECT_TRUE(one == other) << from << " as " << to;
}

void expect_other(const std::string& from, const std::string& to) {
    EXPECT_FALSE(structure(kText) == structure(with(kText, from, to))) << from << " as " << to;
}

TEST(KernelStructure, WhatADispatchSaysDoesNotCount) {
    expect_same("of 1", "of 7");
    expect_same("p0 i32 = n", "p0 i32 = 3*m");
    expect_same("argument 2", "argument 5");
    expect_same("[n]", "[m]");
    expect_same("floordiv(n + 63, 64)", "floordiv(m + 63, 64)");
}

TEST(KernelStructure, NamesLinesAndCountsDoNotCount) {
    expect_same("kernel rows", "kernel columns");
    expect_same("k2", "j2");
    expect_same("most 8", "most 9");
    expect_same("guards 1", "guards 0");
    expect_same("Branch guard", "Branch");
    KernelCode code = parse_kernel(kText);
    for (KernelNode& n : code.nodes) n.lines = {{"other.cpp", 7}};
    EXPECT_TRUE(structure_of(code) == structure(kText));
}

/// The same kernel behind an unused node and an unused range.
KernelCode renumbered(KernelCode code) {
    const auto shift = [](auto& id) {
        if (id) id = id.next();
    };
    code.nodes.insert(code.nodes.begin(), constant_node(scalar_float(9)));
    code.ranges.insert(code.ranges.begin(), Range(code.ranges.front()));
    for (KernelNode& n : code.nodes) {
        for (NodeId& arg : n.args) shift(arg);
        if (auto* range = n.get_if<RangeId>()) shift(*range);
    }
    for (Range& range : code.ranges) shift(range.extent_node);
    for (KernelRegion& region : code.regions) {
        for (auto* ids : {&region.args, &region.effects, &region.yields, &region.order})
            for (NodeId& id : *ids) shift(id);
        shift(region.alive);
        shift(region.range);
    }
    return code;
}

TEST(KernelStructure, NumbersDoNotCount) {
    const KernelCode code = parse_kernel(kText), other = renumbered(code);
    EXPECT_NO_THROW(verify(other, KernelStage::Placed, "a test"));
    EXPECT_TRUE(structure_of(code) == structure_of(other));
}

TEST(KernelStructure, WhatIsComputedCounts) {
    expect_other("k2 0.0 1.0", "k2 0.0 2.0");
    expect_other("k2 0.0 1.0", "k2 -0.0 1.0");
    expect_other("%27 %29", "%28 %29");
    expect_other("%30 = Add", "%30 = Sub");
    expect_other("count 8", "count 9");
    expect_other("yield %30 %31", "yield %31 %30");
    expect_other("#1 %26", "%26");
    expect_other("f32 %28 p1", "f32 %28 %29");
    expect_other("Load f32 b0 k2", "Load f32 b0 t1");
    expect_other("! %37 = Store f32 b1 %21 %33", "");
}

TEST(KernelStructure, TheOrderOfEffectsCounts) {
    expect_other("    ! %34 = Store f32 b1 %21 %32\n    ! %35 = Store i32 b2 %21 %22\n",
                 "    ! %35 = Store i32 b2 %21 %22\n    ! %34 = Store f32 b1 %21 %32\n");
    // The side of a branch that they stand in counts, too.
    expect_other("  } else {\n    ! %37", "    ! %37");
}

TEST(KernelStructure, TypesAndMemoryCount) {
    expect_other("p1 f32", "p1 i32");
    expect_other("b2 i32[n]", "b2 u32[n]");
    expect_other("b0 f32[n] storage", "b0 f32[n] view");
    expect_other("b0 f32[n] storage", "b0 f32x4[n] storage");
    expect_other("b0 f32[n] storage of", "b0 f32[n] storage written of");
    expect_other("group_size 64", "group_size 32");
    expect_other("t1 invocation", "t1 group");
    EXPECT_FALSE(structure(with(kText, "Store f32 b1 %21 %32", "Store f32 b0 %21 %32")) ==
                 structure(kText));
}

// Another binding loads the stored elements of a tensor: loads keep their places then.
TEST(KernelStructure, ItCountsWhichWrittenBuffersAreOneTensor) {
    expect_other("of 1", "of 0");
    const std::string reads = with(with(kText, "storage written of 1", "storage of 1"),
                                   "Store f32 b1 %21", "Store i32 b2 %21");
    EXPECT_TRUE(structure(reads) == structure(with(reads, "of 1", "of 0")));
}

TEST(KernelStructure, ItCountsWhetherDivisionsAreOfIndices) {
    expect_other("%21 = Add i32 %20 t1 in 0 2147483647", "%21 = Add i32 %20 t1 in -1 2147483647");
    expect_same("%21 = Add i32 %20 t1 in 0 2147483647", "%21 = Add i32 %20 t1 in 0 5");
}

TEST(KernelStructure, TheWayOfLoopsAndLoadsCounts) {
    expect_other("most 8", "most 8 written_out");
    const std::string ordered = with(kText, "  placed", "  in_order\n  placed");
    EXPECT_FALSE(structure(ordered) ==
                 structure(with(ordered, "  placed", "  loads_first\n  placed")));
    // Without an order all loads come before the stores.
    expect_same("  placed", "  loads_first\n  placed");
}

// A remainder of a small quotient is one division and a correction, and a long division takes steps
// that count as iterations.
TEST(KernelStructure, ItCountsWhichQuotientsOfFloatsAreSmall) {
    const std::string remainder =
        with(kText, "    %31 = Mul f32 %28 p1\n",
             "    %38 = Cast f32 %22\n    %39 = Mod f32 %38 3.0\n    %31 = Mul f32 %28 %39\n");
    const std::string small = with(remainder, "8 in 0 268435455", "8 in 0 1000");
    EXPECT_FALSE(structure(remainder) == structure(small));
    EXPECT_TRUE(structure(small) == structure(with(remainder, "8 in 0 268435455", "8 in 0 2000")));
    EXPECT_FALSE(structure(remainder) == structure(with(remainder, "most 8", "most 9")));
    EXPECT_TRUE(structure(small) == structure(with(small, "most 8", "most 9")));
}

TEST(KernelStructure, WhatAConstantConditionNeverTakesDoesNotCount) {
    const std::string then = with(kText, "guard %25", "true"),
                      otherwise = with(kText, "guard %25", "false");
    EXPECT_FALSE(structure(then) == structure(otherwise));
    EXPECT_TRUE(structure(then) == structure(with(then, "b1 %21 %33", "b1 %22 %33")));
    EXPECT_FALSE(structure(otherwise) == structure(with(otherwise, "b1 %21 %33", "b1 %22 %33")));
    EXPECT_TRUE(structure(otherwise) == structure(with(otherwise, "b1 %21 %32", "b1 %22 %32")));
}

size_t kernel_count(float factor) {
    SessionScope scope(Session::interpreter(gpu_profile()));
    const auto function = [&](Tensor a, Tensor b) {
        return std::vector<Tensor>{sin(a), sin(b) * factor};
    };
    const auto program = compile(function, {f32("n"), f32("m")}).program();
    size_t dispatches = 0;
    for_dispatches(program->steps, [&](const DispatchStep&) { ++dispatches; });
    EXPECT_EQ(dispatches, 2u);
    return program->kernels.size();
}

TEST(KernelStructure, AProgramHasEqualKernelsOnce) {
    EXPECT_EQ(kernel_count(1), 1u);
    EXPECT_EQ(kernel_count(2), 2u);
}

size_t remainder_kernels(int64_t length) {
    SessionScope scope(Session::interpreter(gpu_profile()));
    const auto rests = [](int64_t n) {
        auto [i] = indices<1>({n});
        return i.as(f32) % 3000.0f;
    };
    const auto both = compile(
        [&](Tensor x) {
            return std::vector<Tensor>{x * rests(1 << 22), x * rests(length)};
        },
        {f32()});
    return both.program()->kernels.size();
}

TEST(KernelStructure, AKernelOfSmallQuotientsStandsForNoOther) {
    EXPECT_EQ(remainder_kernels(1 << 21), 1u);
    EXPECT_EQ(remainder_kernels(1 << 24), 2u);
}

TEST(KernelStructure, OneKernelStandsForTripCountsOfAllThatShareIt) {
    SessionScope scope(Session::interpreter(gpu_profile()));
    auto part = [](const Tensor& a, const Size& length) {
        auto [i, j] = indices<2>({a.size(1), length});
        return sum(a(j, i), {.axis = 1});
    };
    auto f = compile(
        [&](Tensor x, Tensor z) {
            const Size n = x.size(0);
            return std::vector<Tensor>{part(x, min(n, Size(100))), part(z, min(n, Size(200)))};
        },
        {f32("n", "r"), f32("n", "s")});
    const std::vector<Tensor> out = f.call({full({300, 3}, 1.0f), full({300, 5}, 1.0f)});
    EXPECT_EQ(out[0].to_vector<float>(), std::vector<float>(3, 100));
    EXPECT_EQ(out[1].to_vector<float>(), std::vector<float>(5, 200));
}

}  // namespace
}  // namespace firn
