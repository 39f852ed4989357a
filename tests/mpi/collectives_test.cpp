// What processes do together gives what one process would have.
#include <firn/firn.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/frontend/oracle_session.h"
#include "tests/mpi/world.h"

namespace firn {
namespace {

class Together : public ::testing::TestWithParam<bool> {
  protected:
    Session session_ =
        GetParam() || !why_no_cpu_session().empty() ? Session::oracle() : cpu_session();
    SessionScope scope_{session_};
    const int size_ = world().size(), rank_ = world().rank();
    /// The sum over all ranks.
    float ranks() const { return static_cast<float>(size_ * (size_ - 1) / 2); }
};
INSTANTIATE_TEST_SUITE_P(Executors, Together, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "oracle" : "native"; });

TEST_P(Together, SumsAreOfAll) {
    const Tensor x = arange(5).as(f32) + static_cast<float>(rank_);
    const Tensor y = all_reduce(x, world());
    for (int k = 0; k < 5; ++k)
        EXPECT_EQ(y.to_vector<float>()[static_cast<size_t>(k)],
                  static_cast<float>(k * size_) + ranks());
}

TEST_P(Together, EveryTypeIsCombined) {
    const Tensor one = tensor({1, 2}) + rank_;
    for (const DType type : {f32, f16, i32, u32, i16, u8}) {
        const std::vector<float> sum = all_reduce(one.as(type), world()).as(f32).to_vector<float>();
        EXPECT_EQ(sum, (Floats{static_cast<float>(size_) + ranks(),
                               static_cast<float>(2 * size_) + ranks()}))
            << type.name();
    }
    EXPECT_EQ(all_reduce(tensor({rank_ == 0, true}), world(), {.op = Combine::All})
                  .as(i32)
                  .to_vector<int>(),
              (Ints{size_ == 1, 1}));
}

TEST_P(Together, ExtremesAreOfAll) {
    const Tensor x = tensor({rank_, -rank_});
    EXPECT_EQ(all_reduce(x, world(), {.op = Combine::Max}).to_vector<int>(), (Ints{size_ - 1, 0}));
    EXPECT_EQ(all_reduce(x, world(), {.op = Combine::Min}).to_vector<int>(), (Ints{0, 1 - size_}));
}

TEST_P(Together, SumsInOrderHaveOneOrder) {
    // Neighbours first: the parts of 1e8 vanish.
    const float own[] = {1e8f, 1.0f, -1e8f, 1.0f};
    const Tensor y = all_reduce(tensor({own[rank_ % 4]}), world(), {.in_order = true});
    const float expected[] = {0, 1e8f, 1e8f + 1.0f, 0, (1e8f + 1.0f) + (-1e8f + 1.0f)};
    if (size_ == 1 || size_ == 2 || size_ == 4) {
        EXPECT_EQ(y.item<float>(), expected[size_]);
    }
}

TEST_P(Together, RootGivesItsOwn) {
    const Tensor x = full({2, 3}, static_cast<float>(rank_ + 1));
    EXPECT_EQ(broadcast(x, world(), size_ - 1).to_vector<float>(),
              Floats(6, static_cast<float>(size_)));
}

TEST_P(Together, PartsAreJoinedAndDivided) {
    const Tensor parts = all_gather(full({2}, rank_), world());
    Ints joined;
    for (int k = 0; k < size_; ++k) joined.insert(joined.end(), {k, k});
    EXPECT_EQ(parts.to_vector<int>(), joined);
    EXPECT_EQ(reduce_scatter(parts, world()).to_vector<int>(), Ints(2, rank_ * size_));
}

TEST_P(Together, ShiftsGoAroundOrEnd) {
    const Tensor x = tensor({rank_ + 1});
    EXPECT_EQ(shift(x, world()).item<int>(), (rank_ + size_ - 1) % size_ + 1);
    EXPECT_EQ(shift(x, world(), {.by = -1, .around = false}).item<int>(),
              rank_ + 1 < size_ ? rank_ + 2 : 0);
}

TEST_P(Together, GradientsGoBack) {
    Tensor x = tensor({1.0f, 2.0f}) * static_cast<float>(rank_ + 1);
    // The loss is the same in every process: the sum of squares of the sum.
    const Tensor loss = sum(square(all_reduce(x, world())));
    const float all = static_cast<float>(size_) + ranks();
    // Each process's loss depends on x: the gradient of the sum of all losses.
    const float n = static_cast<float>(size_);
    EXPECT_EQ(grad(loss, x).to_vector<float>(), (Floats{2 * all * n, 4 * all * n}));
    const Tensor weights = arange(2 * size_).as(f32);
    const Tensor gathered = sum(all_gather(x, world()) * weights);
    EXPECT_EQ(grad(gathered, x).to_vector<float>(),
              (Floats{n * static_cast<float>(2 * rank_), n * static_cast<float>(2 * rank_ + 1)}));
    EXPECT_EQ(grad(sum(broadcast(x, world()) * 3.0f), x).to_vector<float>(),
              rank_ == 0 ? (Floats{3 * n, 3 * n}) : (Floats{0, 0}));
    EXPECT_EQ(grad(sum(shift(x, world()) * static_cast<float>(rank_)), x).to_vector<float>(),
              Floats(2, static_cast<float>((rank_ + 1) % size_)));
}

TEST_P(Together, CompiledFunctionsCallInLoops) {
    auto f = compile(
        [](Tensor x) {
            for ([[maybe_unused]] Tensor i : loop(3)) x = all_reduce(x, world()) * 0.5f + 1.0f;
            return x;
        },
        {f32("n")});
    float expected = static_cast<float>(rank_);
    expected = ranks() * 0.5f + 1.0f;
    for (int k = 0; k < 2; ++k) expected = expected * static_cast<float>(size_) * 0.5f + 1.0f;
    for (const int n : {1, 7})
        EXPECT_EQ(f(full({n}, static_cast<float>(rank_))).to_vector<float>(),
                  Floats(static_cast<size_t>(n), expected));
}

TEST_P(Together, GroupsOfColoursAreApart) {
    const Communicator half = world().split(rank_ % 2);
    EXPECT_EQ(all_reduce(tensor({1}), half).item<int>(), half.size());
    EXPECT_EQ(half.size(), (size_ + 1 - rank_ % 2) / 2);
    half.barrier();
}

TEST_P(Together, GroupsHaveOneNameInTheirProcesses) {
    // Some processes have divided their group once more than others.
    const Communicator half = world().split(rank_ % 2);
    if (rank_ % 2 == 0) half.split(0).barrier();
    const Communicator again = world().split(0);
    EXPECT_EQ(all_reduce(tensor({1}), again).item<int>(), size_);
}

TEST_P(Together, BoolsAreCountedAndCombined) {
    const Tensor x = tensor({true, rank_ == 0});
    EXPECT_EQ(all_reduce(x, world()).to_vector<int>(), (Ints{size_, 1}));
    EXPECT_EQ(all_reduce(x, world(), {.op = Combine::Any}).as(i32).to_vector<int>(), (Ints{1, 1}));
    expect_parts(user_error([] { all_reduce(ones({2}), world(), {.op = Combine::Any}); }),
                 {"any and all are of bools, and this is f32"});
}

TEST_P(Together, OtherShapesInOtherProcessesAreFound) {
    if (size_ == 1) return;
    const std::string error =
        user_error([&] { all_reduce(zeros({rank_ == 0 ? 3 : 4}), world()).to_vector<float>(); });
    expect_parts(error, {"the processes do not do the same", "[3]", "[4]", "rank 0",
                         "collectives_test.cpp:"});
}

TEST_P(Together, MistakesAreSaid) {
    expect_parts(user_error([] { broadcast(ones({2}), world(), 99); }),
                 {"broadcast: there is no rank 99", "collectives_test.cpp:"});
    if (size_ > 1) {
        expect_parts(user_error([&] { reduce_scatter(ones({size_ + 1}), world()); }),
                     {"reduce_scatter: the first axis has size", "cannot be divided by"});
    }
    expect_parts(user_error([] { all_gather(Tensor(1.0f), world()); }), {"has no axis"});
    expect_parts(
        user_error([] { all_reduce(ones({2}), world(), {.op = Combine::Max, .in_order = true}); }),
        {"only sums have an order"});
}

}  // namespace
}  // namespace firn
