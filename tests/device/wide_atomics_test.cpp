// Combining stores of 64-bit elements at colliding positions, on the device.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/device/on_device.h"

namespace firn {
namespace {

using Doubles = std::vector<double>;
using Longs = std::vector<int64_t>;

/// A device without such atomics says so.
class WideAtomics : public testing::Test {
  protected:
    WideAtomics() {
        try {
            session = std::make_unique<Session>(device_session({.validation = true}));
        } catch (const DeviceError&) {
            return;
        }
        scope = std::make_unique<SessionScope>(*session);
    }
    void SetUp() override {
        if (!session) GTEST_SKIP() << "no Vulkan driver";
        const DeviceProfile& profile = session->executor().profile();
        if (!profile.wide_atomics || !profile.has_f64) GTEST_SKIP() << "no 64-bit atomics";
    }
    std::unique_ptr<Session> session;
    std::unique_ptr<SessionScope> scope;
};

TEST_F(WideAtomics, OfDoubles) {
    const Tensor to = tensor({0, 0, 2, 0}), by = tensor(Doubles{1, 2, 3, 1e-9});
    Tensor sum = zeros({3}, f64), least = ones({3}, f64), product = ones({3}, f64) * 3.0f;
    scatter_add(sum(to), by);
    scatter_min(least(to), by);
    scatter_mul(product(to), by);
    EXPECT_EQ(sum.to_vector<double>(), (Doubles{3 + 1e-9, 0, 3}));
    EXPECT_EQ(least.to_vector<double>(), (Doubles{1e-9, 1, 1}));
    EXPECT_NEAR(product.to_vector<double>()[0], 6e-9, 1e-20);
    EXPECT_EQ(product.to_vector<double>()[2], 9);
}

TEST_F(WideAtomics, OfIntegers) {
    const int64_t large = int64_t{1} << 40;
    const Tensor to = tensor({1, 1, 0}), by = tensor(Longs{large, large + 1, -large});
    Tensor sum = zeros({2}, i64), most = zeros({2}, i64), bits = zeros({2}, i64);
    scatter_add(sum(to), by);
    scatter_max(most(to), by);
    scatter_xor(bits(to), by);
    EXPECT_EQ(sum.to_vector<int64_t>(), (Longs{-large, 2 * large + 1}));
    EXPECT_EQ(most.to_vector<int64_t>(), (Longs{0, large + 1}));
    EXPECT_EQ(bits.to_vector<int64_t>(), (Longs{-large, 1}));
    Tensor unsigned_most = zeros({2}, u64);
    scatter_max(unsigned_most(to), tensor(std::vector<uint64_t>{1, 1ull << 63, 5}));
    EXPECT_EQ(unsigned_most.to_vector<uint64_t>(), (std::vector<uint64_t>{5, 1ull << 63}));
}

// Many invocations at one place, of which none is lost.
TEST_F(WideAtomics, LoseNothing) {
    Tensor x = zeros({4}, f64), n = zeros({4}, i64);
    const Tensor k = index(Shape{100'000}, 0);
    scatter_add(x(k % 4), k.as(f64));
    scatter_add(n(k % 4), k.as(i64));
    EXPECT_EQ(n.to_vector<int64_t>(), (Longs{1249950000, 1249975000, 1250000000, 1250025000}));
    EXPECT_EQ(x.to_vector<double>(), (Doubles{1249950000, 1249975000, 1250000000, 1250025000}));
}

TEST_F(WideAtomics, MakeGradientsOfReadsThatMeet) {
    const Tensor w = tensor(Doubles{1, 2, 3});
    EXPECT_EQ(grad(sum(square(w(tensor({0, 0, 2})))), w).to_vector<double>(), (Doubles{4, 0, 6}));
}

}  // namespace
}  // namespace firn
