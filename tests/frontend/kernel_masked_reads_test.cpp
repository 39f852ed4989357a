// Kernels by hand: shared memory under a condition per invocation is only read by invocations whose
// condition holds.
#include <functional>

#include "tests/frontend/kernels.h"

namespace firn {
namespace {

class KernelMaskedReads : public Kernels {
  protected:
    using Body = std::function<void(Tensor i, Shared& t, Tensor& x)>;
    /// Returns the result of `body` for a shared copy of {1, 2, 3, 4}.
    static Ints run(const Body& body) {
        Tensor x = tensor(Ints{1, 2, 3, 4}), c = zeros({4}, i32);
        kernel({4}, {.group = {4}}, [&](Tensor i) {
            Shared t = shared(i32, 4);
            t(i) = x(i);
            barrier();
            body(i, t, x);
            c(i) = t(i);
        });
        return c.to_vector<int>();
    }
};
INSTANTIATE_TEST_SUITE_P(Executors, KernelMaskedReads, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "compiled" : "oracle"; });

TEST_P(KernelMaskedReads, BeforeAGuardedStore) {
    EXPECT_EQ(
        run([](Tensor i, Shared& t, Tensor&) { if_(i % 2 == 0, [&] { t(i) = t(i) + t(i + 1); }); }),
        (Ints{3, 2, 7, 4}));
}

TEST_P(KernelMaskedReads, ByPromise) {
    EXPECT_EQ(run([](Tensor i, Shared& t, Tensor&) {
                  if_(i % 2 == 0, [&] { t(i) = own(t)(i) + own(t)(i + 1); });
                  barrier();
              }),
              (Ints{3, 2, 7, 4}));
}

TEST_P(KernelMaskedReads, InTheOtherSide) {
    EXPECT_EQ(run([](Tensor i, Shared& t, Tensor&) {
                  if_(
                      i % 2 == 1, [&] {}, [&] { t(i) = t(i + 1); });
              }),
              (Ints{2, 2, 4, 4}));
}

TEST_P(KernelMaskedReads, UnderTwoConditions) {
    EXPECT_EQ(run([](Tensor i, Shared& t, Tensor& x) {
                  if_(i % 2 == 0, [&] { if_(x(i) > 1, [&] { t(i) = t(i + 1); }); });
              }),
              (Ints{1, 2, 4, 4}));
}

TEST_P(KernelMaskedReads, UnderAConditionThatIsReadToo) {
    EXPECT_EQ(
        run([](Tensor i, Shared& t, Tensor&) { if_(t(i) % 2 == 1, [&] { t(i) = t(i + 1); }); }),
        (Ints{2, 2, 4, 4}));
}

TEST_P(KernelMaskedReads, InALoopUnderACondition) {
    EXPECT_EQ(run([](Tensor i, Shared& t, Tensor& x) {
                  Tensor sum = 0;
                  if_(x(i) % 2 == 1, [&] {
                      for (Tensor k : loop(2)) sum += t(i + k);
                      t(i) = sum;
                  });
              }),
              (Ints{3, 2, 7, 4}));
}

TEST_P(KernelMaskedReads, UnderAConditionInALoop) {
    EXPECT_EQ(run([](Tensor i, Shared& t, Tensor&) {
                  Tensor sum = 0;
                  for (Tensor k : loop(4)) if_(i < k, [&] { sum += t(k); });
                  if_(i == 0, [&] { t(i) = sum; });
              }),
              (Ints{9, 2, 3, 4}));
}

TEST_P(KernelMaskedReads, BeforeALoopUnderACondition) {
    EXPECT_EQ(run([](Tensor i, Shared& t, Tensor&) {
                  if_(i % 2 == 0, [&] {
                      Tensor sum = 1;
                      while_([&] { return sum < 3; }, [&] { sum += t(i + 1); });
                      t(i) = sum;
                  });
              }),
              (Ints{3, 2, 5, 4}));
}

class KernelMaskedRaces : public KernelMaskedReads {
  protected:
    static void expect_race(const Body& body) {
        expect_parts(user_error([&] { run(body); }),
                     {"one invocation reads", "another stores", "without a barrier",
                      "kernel_masked_reads_test.cpp"});
    }
};
INSTANTIATE_TEST_SUITE_P(Executors, KernelMaskedRaces, ::testing::Values(true),
                         [](const auto&) { return "compiled"; });

TEST_P(KernelMaskedRaces, WhereTheConditionHoldsForBoth) {
    expect_race([](Tensor i, Shared& t, Tensor&) { if_(i % 2 == 0, [&] { t(i) = t(i + 2); }); });
}

TEST_P(KernelMaskedRaces, OfAStoreThatHasNoCondition) {
    expect_race([](Tensor i, Shared& t, Tensor&) {
        Tensor next = 0;
        if_(i % 2 == 0, [&] { next = t(i + 1); });
        t(i) = t(i) + next;
    });
}

TEST_P(KernelMaskedRaces, OfAConditionThatIsReadFromAnother) {
    expect_race([](Tensor i, Shared& t, Tensor&) { if_(t(3 - i) > 1, [&] { t(i) = 7; }); });
}

TEST_P(KernelMaskedRaces, OfWhatAnEarlierIterationHasRead) {
    expect_race([](Tensor i, Shared& t, Tensor&) {
        Tensor sum = 0, before = 0;
        for (Tensor k : loop(2)) {
            if_(k == 1, [&] { sum += before; });
            before = t(select(k == 0, 3, i));
        }
        t(i) = sum;
    });
}

}  // namespace
}  // namespace firn
