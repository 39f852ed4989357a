// Guarded stores that become unconditional and rewrite the old value where the guard is false.
#include "compiler/mapping/before/complete_stores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/driver/compile.h"
#include "compiler/language.h"
#include "tests/emitting.h"

namespace firn {
namespace {

using OfTwo = Tensor (*)(Tensor, const Tensor&);

Tensor inside(const Tensor& i, const Tensor& j, const Tensor& x) {
    return (i > 0) & (i < x.size(0) - 1) & (j > 0) & (j < x.size(1) - 1);
}

/// The mean of the neighbours, but at the borders.
Tensor borders(Tensor y, const Tensor& x) {
    kernel(x.shape(), [&](Tensor i, Tensor j) {
        if_(inside(i, j, x),
            [&] { y(i, j) = 0.25f * (x(i - 1, j) + x(i + 1, j) + x(i, j - 1) + x(i, j + 1)); });
    });
    return y;
}
Tensor transposed(Tensor y, const Tensor& x) {
    kernel(x.shape(), [&](Tensor i, Tensor j) { if_(j > 2, [&] { y(j, i) = x(i, j); }); });
    return y;
}
/// Stores where the element is large already; it is read for the guard, or for the stored value.
Tensor large(Tensor y, const Tensor& x) {
    kernel(x.shape(), [&](Tensor i, Tensor j) { if_(y(i, j) > 0.5f, [&] { y(i, j) = x(j, i); }); });
    return y;
}
Tensor grown(Tensor y, const Tensor& x) {
    kernel(x.shape(),
           [&](Tensor i, Tensor j) { if_(x(i, j) > 0.5f, [&] { y(i, j) += x(j, i); }); });
    return y;
}
/// Two columns.
Tensor pairs(Tensor y, const Tensor& x) {
    firn::kernel({x.size(0), 32}, [&](Tensor i, Tensor j) {
        if_((i > 3) & (j < 31), [&] {
            y(i, 2 * j) = x(i, j);
            y(i, 2 * j + 1) = x(i, j + 1);
        });
    });
    return y;
}

Tensor marked(Tensor y, const Tensor& x) {
    kernel(x.shape(), [&](Tensor i, Tensor j) { if_(x(i, j) > 0.9f, [&] { y(i, j) = 1.0f; }); });
    return y;
}
Tensor one_row(Tensor y, const Tensor& x) {
    kernel(x.shape(), [&](Tensor i, Tensor j) { if_(i < 2, [&] { y(i, j) = x(i, j); }); });
    return y;
}
/// A loop, which may take long where its value is not used.
Tensor summed(Tensor y, const Tensor& x) {
    kernel(x.shape(), [&](Tensor i, Tensor j) {
        if_(inside(i, j, x), [&] {
            Tensor sum = 0.0f;
            for (Tensor k : loop(12)) sum += where(x(i, k) > x(j, k), 1.0f, 0.0f);
            y(i, j) = sum;
        });
    });
    return y;
}
/// Each second row stores in the next one too.
Tensor two_rows(Tensor y, const Tensor& x) {
    kernel(x.shape(), [&](Tensor i, Tensor j) {
        if_(i % 2 == 0, [&] {
            y(i, j) += x(i, j);
            y(i + 1, j) = x(j, i);
        });
    });
    return y;
}
Tensor twice(Tensor y, const Tensor& x) {
    kernel(x.shape(), [&](Tensor i, Tensor j) {
        if_(inside(i, j, x), [&] { y(i, j) = 2.0f * x(i, j); });
        if_(i > 1, [&] { y(i, j) = x(i, j) - 1.0f; });
    });
    return y;
}
Tensor below(Tensor y, const Tensor& x) {
    kernel(x.shape(), [&](Tensor i, Tensor j) { if_(i > 1, [&] { y(i + 1, j) = x(i, j); }); });
    return y;
}
/// All of a row store at one place.
Tensor first_column(Tensor y, const Tensor& x) {
    kernel(x.shape(),
           [&](Tensor i, Tensor j) { if_((i > 0) & (j < 1), [&] { y(i, 0) = x(i, j); }); });
    return y;
}

std::vector<float> completed(OfTwo f, int64_t side, const Session& session) {
    SessionScope scope(session);
    const auto compiled =
        compile([=](Tensor y, Tensor x) { return f(y, x); }, {f32(side, side), f32(side, side)});
    return compiled(rand({side, side}, {.seed = 1}), rand({side, side}, {.seed = 2}))
        .to_vector<float>();
}
/// Returns whether the kernel stores under a guard.
bool asks(OfTwo f, const DeviceProfile& profile = cpu_profile()) {
    SessionScope scope(emitting(profile));
    const auto program =
        compile([=](Tensor y, Tensor x) { return f(y, x); }, {f32(64, 64), f32(64, 64)}).program();
    EXPECT_EQ(program->kernels.size(), 1u);
    return program->kernels.at(0).artefact.text.find("if (") != std::string::npos;
}
void expect_equal_values(OfTwo f) {
    for (int64_t side : {64, 65})
        EXPECT_EQ(completed(f, side, Session::interpreter()), completed(f, side, Session::oracle()))
            << side;
}

TEST(CompleteStores, WhereTheGuardMostlyHolds) {
    EXPECT_FALSE(asks(borders));
    EXPECT_FALSE(asks(transposed));
    expect_equal_values(borders);
    expect_equal_values(transposed);
}

TEST(CompleteStores, WhereTheElementIsLoaded) {
    EXPECT_FALSE(asks(large));
    EXPECT_FALSE(asks(grown));
    expect_equal_values(large);
    expect_equal_values(grown);
}

TEST(CompleteStores, OfSeveralElementsOfOneInvocation) {
    EXPECT_FALSE(asks(pairs));
    EXPECT_EQ(completed(pairs, 64, Session::interpreter()),
              completed(pairs, 64, Session::oracle()));
}

TEST(CompleteStores, WhatSeldomStoresAsks) {
    EXPECT_TRUE(asks(marked));
    EXPECT_TRUE(asks(one_row));
    expect_equal_values(marked);
    expect_equal_values(one_row);
}

TEST(CompleteStores, ALoopIsNotEnteredForNothing) {
    EXPECT_TRUE(asks(summed));
    expect_equal_values(summed);
}

TEST(CompleteStores, WhatIsStoredTwiceOrBySeveral) {
    EXPECT_TRUE(asks(twice));
    EXPECT_TRUE(asks(two_rows));
    EXPECT_TRUE(asks(below));
    EXPECT_TRUE(asks(first_column));
    expect_equal_values(twice);
    expect_equal_values(two_rows);
    expect_equal_values(below);
    expect_equal_values(first_column);
}

/// Each second row is stored to, and so is the element at %OTHER.
std::string with_another_store(const std::string& other) {
    return R"(kernel two_stores
  b0 f32[4096] storage written of 0
  y0 grid < 64
  x1 grid < 64
{
  %6 = Mod i32 y0 2 in 0 1
  %7 = Equal bool %6 0
  %8 = Mul i32 y0 64 in 0 4032 mod 64 0
  %9 = Add i32 %8 x1 in 0 4095
  %16 = Add i32 %9 1 in 1 4096
  %11 = Load f32 b0 %9
  %12 = Add f32 %11 1.0
  ! %10 = Branch guard %7 {
    ! %13 = Store f32 b0 %9 %12
  }
  ! %14 = Branch guard %7 {
    ! %15 = Store f32 b0 )" +
           other + R"( %12
  }
}
)";
}
size_t stores_of_all(const std::string& text) {
    const KernelCode code = complete_stores(parse_kernel(text), cpu_profile(), {});
    const std::vector<NodeId>& effects = code[kRoot].effects;
    return static_cast<size_t>(std::count_if(
        effects.begin(), effects.end(), [&](NodeId id) { return code[id].op == KernelOp::Store; }));
}

TEST(CompleteStores, WhereAnotherStoreMayMeetItItAsks) {
    EXPECT_EQ(stores_of_all(with_another_store("%9")), 0u);
    EXPECT_EQ(stores_of_all(with_another_store("%16")), 0u);
}

TEST(CompleteStores, AGpuAsks) { EXPECT_TRUE(asks(borders, gpu_profile())); }

}  // namespace
}  // namespace firn
