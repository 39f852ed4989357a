// The memory of a session and its functions is bounded, however many programs there are.
#include <malloc.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/frontend/function_state.h"
#include "compiler/frontend/record.h"
#include "tests/frontend/oracle_session.h"

// tcmalloc defines this function; it is null in a program without tcmalloc.
extern "C" [[gnu::weak]] int MallocExtension_GetNumericProperty(const char* property,
                                                                size_t* value);

namespace firn {
namespace {

/// A program of its own for every k: which of the elements are negated says the number in binary.
Tensor program(int k) {
    Tensor x = arange(12);
    for (int bit = 0; bit < 12; ++bit)
        x = k >> bit & 1 ? select(index(x, 0) == bit, -x, x) : x + 0 * bit;
    return x;
}

int expected_sum(int k) {
    int sum = 0;
    for (int bit = 0; bit < 12; ++bit) sum += k >> bit & 1 ? -bit : bit;
    return sum;
}

TEST(Bounded, PlansOfLazyEvaluation) {
    SessionScope scope(Session::interpreter());
    const Session session = current_session();
    size_t nodes = 0;
    for (int k = 0; k < static_cast<int>(kMostPlans) + 60; ++k) {
        const std::vector<int> got = program(k).to_vector<int>();
        int sum = 0;
        for (int value : got) sum += value;
        EXPECT_EQ(sum, expected_sum(k)) << k;
        if (k == 40) nodes = session.node_count();
    }
    EXPECT_EQ(session.plan_count(), kMostPlans);
    EXPECT_LE(session.node_count(), nodes + 60) << "nodes of programs that are gone";
    // The first was let go of, and is made again.
    EXPECT_EQ(program(5).to_vector<int>()[2], -2);
}

TEST(Bounded, PlansOfAFrameLoopThatCounts) {
    SessionScope scope(Session::interpreter());
    const Session session = current_session();
    const Tensor x = tensor({1.0f, 2.0f});
    for (float frame = 0; frame < 40; ++frame) {  // 33 of its numbers are worth folding
        const Tensor y = x * (0.5f * frame) + 4.0f;
        EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0.5f * frame + 4, frame + 4}));
    }
    // Two with the number folded, one that takes it, and one where it is the other number too.
    EXPECT_LE(session.plan_count(), 4u);
    for (const auto& [text, program] : session.state()->plans)
        EXPECT_NE(text.find("Constant 4.0"), std::string::npos) << "which stays: " << text;
}

TEST(Bounded, ProgramsThatNobodyUsesAnyMore) {
    SessionScope scope(Session::interpreter());
    const Session session = current_session();
    const auto twice = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
    const auto run = [&](int size) {
        const Tensor x = zeros({size}) + 0.3f;  // a lazy program of each size
        for (int calls = 0; calls < 3; ++calls) EXPECT_EQ(twice(x)(0).item<float>(), 0.6f);
    };
    for (int size = 1; size <= static_cast<int>(kRecentValues); ++size) run(size);
    const size_t plans = session.plan_count(), variants = twice.variant_count();
    EXPECT_GE(variants, kRecentValues);
    const Tensor x = ones({5});  // nothing new is called, so nothing is dropped
    for (int calls = 0; calls < kForgotten + 10; ++calls) twice(x);
    EXPECT_GE(session.plan_count(), plans);
    EXPECT_EQ(twice.variant_count(), variants);
    run(11);
    EXPECT_LT(session.plan_count(), plans / 2);
    EXPECT_LT(twice.variant_count(), variants / 2);
    run(3);
}

/// A window that is resized has programs of the last sizes only; recurring sizes keep theirs.
TEST(Bounded, ProgramsOfSizesThatDoNotComeAgain) {
    SessionScope scope(Session::interpreter());
    const auto twice = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
    const auto run = [&](int size) {
        const Tensor x = zeros({size}) + 0.3f;
        for (int calls = 0; calls < 3; ++calls) EXPECT_EQ(twice(x)(0).item<float>(), 0.6f);
    };
    for (int size = 1; size <= 50; ++size) run(size);
    constexpr size_t kCoarse = 6;  // by divisors of the size, and the one that assumes nothing
    EXPECT_LE(twice.variant_count(), kRecentValues + kCoarse);
    for (const int size : {48, 49, 50}) run(size);
    const size_t variants = twice.variant_count();
    for (int iteration = 0; iteration < 20; ++iteration)
        for (const int size : {48, 49, 50}) run(size);
    EXPECT_EQ(twice.variant_count(), variants);
}

/// Returns one of 8^5 programs of five operations, or its result on the host (`Value` int).
template <class Value>
Value one_of_many(Value x, int k) {
    using std::max, std::min;
    for (int step = 0; step < 5; ++step, k /= 8) switch (k % 8) {
            case 0: x = x + 1; break;
            case 1: x = x * 3; break;
            case 2: x = x - 2; break;
            case 3: x = x ^ 5; break;
            case 4: x = -x; break;
            case 5: x = max(x, 2); break;
            case 6: x = min(x, 7); break;
            default: x = x | 8;
        }
    return x;
}

/// Bytes of the heap that are in use; 0 where the allocator is neither tcmalloc nor the C
/// library's.
size_t heap_in_use() {
    size_t bytes = 0;
    if (MallocExtension_GetNumericProperty &&
        MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &bytes))
        return bytes;
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

TEST(Bounded, MemoryOf20000Programs) {
    if (heap_in_use() == 0) GTEST_SKIP() << "the allocator does not say what is in use";
    SessionScope scope(Session::interpreter());
    size_t before = 0;
    for (int k = 0; k < 20000; ++k) {
        ASSERT_EQ(one_of_many(arange(3), k).to_vector<int>()[2], one_of_many(2, k)) << k;
        if (k == 2000) before = heap_in_use();
    }
    const size_t after = heap_in_use();
    EXPECT_LT(after, before + (1 << 20)) << "more than 58 bytes of each program stay";
    RecordProperty("before", std::to_string(before));
    RecordProperty("after", std::to_string(after));
}

TEST(Bounded, VariantsOfAFunction) {
    SessionScope scope(Session::oracle());
    auto twice = compile(
        [](Tensor a, Tensor b, Tensor c, Tensor d) { return sum(a) + sum(b) + sum(c) + sum(d); },
        {f32("n"), f32("m"), f32("k"), f32("l")});
    auto sized = [](int k) { return ones({k & 3 ? 64 << 2 * (k & 3) : 3}); };
    for (int k = 0; k < 256; ++k) {
        const auto sum =
            twice(sized(k), sized(k >> 2), sized(k >> 4), sized(k >> 6)).item<double>();
        EXPECT_GE(sum, 12);
    }
    EXPECT_EQ(twice.variant_count(), kMostVariants);
    EXPECT_EQ(twice(ones({3}), ones({3}), ones({3}), ones({3})).item<float>(), 12);
}

TEST(Bounded, ShapesOfAJit) {
    SessionScope scope(Session::oracle());
    auto twice = jit([](Tensor x) { return x * 2; });
    for (int n = 1; n < 100; ++n) EXPECT_EQ(twice(ones({n})).size(0), n);
    EXPECT_EQ(twice.shape_count(), JitPrograms::kMostShapes);
}

TEST(Bounded, AssignedHandles) {
    SessionScope scope(Session::oracle());
    for (int k = 0; k < 1000; ++k) {
        Tensor x = 1.0f;
        x = x + 1;
    }
    EXPECT_LE(current_state()->assigned.size(), 64u);
}

}  // namespace
}  // namespace firn
