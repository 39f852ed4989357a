// Kernels for the thread sanitizer (tests/races), which must find the first one.
#include <gtest/gtest.h>

#include <string>

#include "compiler/frontend/cpu_session.h"
#include "compiler/language.h"

namespace firn {
namespace {

constexpr int kGroups = 8, kInGroup = 16;

/// Every invocation stores to the place that `place` gives it.
template <class Place>
Tensor stored(const Place& place) {
    Tensor c = zeros({kGroups * kInGroup}, i32);
    kernel({kGroups * kInGroup}, {.group = {kInGroup}}, [&](Tensor i) { c(place(i)) = i + 1; });
    return c;
}

TEST(Races, DISABLED_TwoGroupsStoreOneElement) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    SessionScope scope(cpu_session());
    stored([](const Tensor& i) { return i % kInGroup; }).to_vector<int>();
}

TEST(Races, GroupsWithElementsOfTheirOwnHaveNone) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    SessionScope scope(cpu_session());
    const std::vector<int> got = stored([](const Tensor& i) { return i ^ 5; }).to_vector<int>();
    for (int k = 0; k < kGroups * kInGroup; ++k) EXPECT_EQ(got[size_t(k)], (k ^ 5) + 1);
}

TEST(Races, AtomicsOfGroupsHaveNone) {
    if (const std::string why = why_no_cpu_session(); !why.empty()) GTEST_SKIP() << why;
    SessionScope scope(cpu_session());
    Tensor sums = zeros({3}), counts = zeros({3}, i32);
    kernel({kGroups * kInGroup}, {.group = {kInGroup}}, [&](Tensor i) {
        atomic_add(sums(i % 3), 0.5f);
        atomic_max(counts(i % 3), i);
    });
    EXPECT_EQ(sums.to_vector<float>(), (std::vector<float>{21.5f, 21.5f, 21.0f}));
    EXPECT_EQ(counts.to_vector<int>(), (std::vector<int>{126, 127, 125}));
}

}  // namespace
}  // namespace firn
