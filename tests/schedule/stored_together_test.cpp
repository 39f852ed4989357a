// Kernels by hand whose stores replace every element of their target: it is not filled before.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/schedule/compile_helpers.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

struct Stores {
    const char* name;
    bool filled;  // before the kernel
    Tensors (*program)(const Tensors&);
};

constexpr Stores kStores[] = {
    {"OneToEachElementOfAPixel", false,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({7, 5, 3}, -1.0f);
         kernel({7, 5}, [&](Tensor i, Tensor j) {
             y(i, j, 0) = a[0](i), y(i, j, 2) = a[0](j), y(i, j, 1) = 1.0f;
         });
         return {y};
     }},
    {"AllInALoop", false,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({7, 5, 3}, -1.0f);
         kernel({7, 5}, [&](Tensor i, Tensor j) {
             for (Tensor c : loop(3)) y(i, j, c) = a[0](i + c) + a[0](j);
         });
         return {y};
     }},
    {"TwoInEachTurnOfALoop", false,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({7, 8}, -1.0f);
         kernel({7}, [&](Tensor i) {
             for (Tensor c : loop(4)) y(i, 2 * c) = a[0](i + c), y(i, 2 * c + 1) = 2.0f;
         });
         return {y};
     }},
    {"ALoopThatLeavesTheLastOut", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({7, 5}, -1.0f);
         kernel({7}, [&](Tensor i) {
             for (Tensor c : loop(4)) y(i, c) = a[0](i + c);
         });
         return {y};
     }},
    {"ALoopThatMayEndEarlier", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({7, 4}, -1.0f);
         kernel({7}, [&](Tensor i) {
             for (Tensor c : loop(4)) {
                 if_(c.as(f32) > a[0](i), [&] { break_(); });
                 y(i, c) = a[0](i + c);
             }
         });
         return {y};
     }},
    {"ALoopOfNoTurns", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({7}, -1.0f);
         kernel({7}, [&](Tensor i) {
             for (Tensor c : loop(min(a[0](0).as(i32), 5))) y(i) = a[0](i);
         });
         return {y};
     }},
    {"ALoopThatSkipsATurn", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({7, 4}, -1.0f);
         kernel({7}, [&](Tensor i) {
             for (Tensor c : loop(4)) {
                 if_(c == 2, [&] { continue_(); });
                 y(i, c) = a[0](i + c);
             }
         });
         return {y};
     }},
    {"OneIsLeftOut", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({7, 5, 3}, -1.0f);
         kernel({7, 5}, [&](Tensor i, Tensor j) { y(i, j, 0) = a[0](i), y(i, j, 2) = a[0](j); });
         return {y};
     }},
    {"OneIsStoredTwice", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({7, 3}, -1.0f);
         kernel({7}, [&](Tensor i) { y(i, 0) = a[0](i), y(i, 1) = 2.0f, y(i, 0) = 1.0f; });
         return {y};
     }},
    {"BlocksOfTwoByThree", false,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({8, 12}, -1.0f);
         kernel({4, 4}, [&](Tensor i, Tensor j) {
             for (int p = 0; p < 2; ++p)
                 for (int q = 0; q < 3; ++q) y(2 * i + p, j * 3 + q) = a[0](i + j);
         });
         return {y};
     }},
    {"BlocksThatLeaveARowAtTheEnd", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({9}, -1.0f);
         kernel({4}, [&](Tensor i) { y(2 * i) = a[0](i), y(2 * i + 1) = 1.0f; });
         return {y};
     }},
    {"EveryOtherOneFromTheSecond", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({8}, -1.0f);
         kernel({4}, [&](Tensor i) { y(2 * i + 1) = a[0](i), y(2 * i + 2) = 1.0f; });
         return {y};
     }},
    {"TransposedAxes", false,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({5, 2, 7}, -1.0f);
         kernel({7, 5},
                [&](Tensor i, Tensor j) { y(j, 0, i) = a[0](i), y(j, 1, i) = a[0](i) + 1.0f; });
         return {y};
     }},
    {"ADiagonal", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({6, 6}, -1.0f);
         kernel({6}, [&](Tensor i) { y(i, i) = a[0](i); });
         return {y};
     }},
    {"UnderACondition", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({6, 2}, -1.0f);
         kernel({6}, [&](Tensor i) {
             y(i, 0) = a[0](i);
             if_(a[0](i) > 2.0f, [&] { y(i, 1) = 1.0f; });
         });
         return {y};
     }},
    {"OneOfThemIsRead", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({6, 2}, -1.0f);
         kernel({6}, [&](Tensor i) { y(i, 0) = a[0](i) + y(i, 1), y(i, 1) = 3.0f; });
         return {y};
     }},
    {"WhatIsExchangedIsAskedFor", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({6}, -1.0f), found = full({6}, -1.0f);
         kernel({6}, [&](Tensor i) { found(i) = atomic_exchange(y(i), a[0](i)); });
         return {y + 100.0f * found};
     }},
    {"OneOfThemIsExchanged", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({6, 2}, -1.0f);
         kernel({6}, [&](Tensor i) { y(i, 1) = atomic_exchange(y(i, 0), a[0](i)); });
         return {y};
     }},
    {"OneOfThemAdds", true,
     [](const Tensors& a) -> Tensors {
         Tensor y = full({6, 2}, -1.0f);
         kernel({6}, [&](Tensor i) { y(i, 0) = a[0](i), y(i, 1) += 3.0f; });
         return {y};
     }},
};

class StoredTogether : public testing::TestWithParam<Stores> {};

TEST_P(StoredTogether, IsFilledBeforeOnlyWhereSomethingIsLeft) {
    const auto program = program_for(cpu_profile(), GetParam().program, {f32(16)});
    const int64_t all =
        4 * program->buffers[static_cast<size_t>(program->results[0].buffer)].elements.constant();
    if (GetParam().filled)
        EXPECT_GT(stats(*program, {}).bytes_written, all);
    else
        EXPECT_EQ(stats(*program, {}).bytes_written, all);
}

/// The same by the interpreter of kernels and by that of the graph.
TEST_P(StoredTogether, HasTheSameValues) {
    std::vector<float> numbers(16);
    std::iota(numbers.begin(), numbers.end(), 0.0f);
    auto values = [&](const Session& session) {
        SessionScope scope(session);
        return GetParam().program({tensor(numbers)})[0].to_vector<float>();
    };
    EXPECT_EQ(values(Session::interpreter(cpu_profile())), values(Session::oracle()));
}

INSTANTIATE_TEST_SUITE_P(Each, StoredTogether, testing::ValuesIn(kStores),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace firn
