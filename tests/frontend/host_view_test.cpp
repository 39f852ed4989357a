// Elements of tensors in the memory of the host: views of them, and tensors that the host fills.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <stdexcept>

#include "tests/frontend/counting_executor.h"
#include "tests/frontend/oracle_session.h"

namespace firn {
namespace {

class HostViews : public OracleTest {};

TEST_F(HostViews, ShowElementsInRowMajorOrder) {
    const Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
    const HostView<int> view = host_view<int>(x + 1);
    EXPECT_EQ(view.shape(), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(Ints(view.begin(), view.end()), (Ints{2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(view(1, 0), 5);
    EXPECT_EQ(view[5], 7);
    EXPECT_FALSE(view.is_copy());
}

TEST_F(HostViews, ArePutToOtherLibraries) {
    const HostView<float> view = host_view<float>(tensor({3.0f, 1.0f, 2.0f}));
    const std::span<const float> span(view);
    EXPECT_EQ(*std::max_element(span.begin(), span.end()), 3.0f);
    EXPECT_EQ(tensor(view).to_vector<float>(), (Floats{3, 1, 2}));
}

TEST_F(HostViews, CopyNothing) {
    const Tensor x = tensor({1.0f, 2.0f});
    EXPECT_EQ(host_view<float>(x).data(), host_view<float>(x).data());
}

TEST_F(HostViews, CopyWhereTheDeviceHasMemoryOfItsOwn) {
    SessionScope scope(Session(std::make_shared<CountingExecutor>()));
    const HostView<float> view = host_view<float>(tensor({1.0f, 2.0f}) * 2.0f);
    EXPECT_TRUE(view.is_copy());
    EXPECT_EQ(Floats(view.begin(), view.end()), (Floats{2, 4}));
    const Tensor filled = host_tensor<float>({3}, [](HostSpan<float> to) { to[2] = 5.0f; });
    EXPECT_EQ(filled.to_vector<float>(), (Floats{0, 0, 5}));
}

TEST_F(HostViews, StayAsTheyAre) {
    HostView<float> view = [] {
        Tensor x = tensor({1.0f, 2.0f});
        HostView<float> out = host_view<float>(x);
        x(0) = 7.0f;
        EXPECT_EQ(x.to_vector<float>(), (Floats{7, 2}));
        return out;
    }();
    EXPECT_EQ(Floats(view.begin(), view.end()), (Floats{1, 2}));
}

// The memory of a donated argument becomes the result's, unless a view holds it.
TEST_F(HostViews, KeepWhatIsGivenAway) {
    SessionScope scope(Session::interpreter(gpu_profile()));
    auto next = compile([](Tensor x) { return x + 1.0f; }, {f32(4)});
    Tensor x = next(zeros({4}));
    const float* unseen = host_view<float>(x).data();
    x = next(std::move(x));
    EXPECT_EQ(host_view<float>(x).data(), unseen);  // no view any more: in place
    const HostView<float> view = host_view<float>(x);
    x = next(std::move(x));
    EXPECT_EQ(Floats(view.begin(), view.end()), (Floats{2, 2, 2, 2}));
    EXPECT_EQ(x.to_vector<float>(), (Floats{3, 3, 3, 3}));
}

TEST_F(HostViews, OfOneElementAndOfNone) {
    EXPECT_EQ(host_view<float>(Tensor(2.0f))(), 2.0f);
    EXPECT_EQ(host_view<float>(zeros({0, 3})).size(), 0u);
    const Tensor none =
        host_tensor<int>({0, 3}, [](HostSpan<int> to) { EXPECT_EQ(to.size(), 0u); });
    EXPECT_EQ(none.shape(), (Shape{0, 3}));
    EXPECT_EQ(none.dtype(), i32);
}

TEST_F(HostViews, RefuseOtherTypesAndPlacesOutside) {
    const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
    expect_parts(user_error([&] { host_view<double>(x); }),
                 {"host_view", "f32", "f64", "x.as(", "host_view_test.cpp:"});
    expect_parts(user_error([&] { host_view<bool>(x); }), {"host_view", "f32", "none are stored"});
    const HostView<float> view = host_view<float>(x);
    expect_parts(user_error([&] { view(1, 2); }), {"[1, 2]", "[2, 2]", "host_view_test.cpp:"});
    expect_parts(user_error([&] { view(-1, 0); }), {"[-1, 0]", "[2, 2]"});
    expect_parts(user_error([&] { view(1); }), {"[1]", "[2, 2]"});
    expect_parts(
        user_error([&] { host_tensor<float>({Size::symbol("n")}, [](HostSpan<float>) {}); }),
        {"host_tensor", "[n]", "numbers", "host_view_test.cpp:"});
}

TEST_F(HostViews, OfTensorsThatTheHostFills) {
    const Tensor x = host_tensor<int>({2, 3}, [](HostSpan<int> to) {
        EXPECT_EQ(std::count(to.begin(), to.end(), 0), 6);
        std::iota(to.begin(), to.end(), 1);
    });
    EXPECT_EQ(x.shape(), (Shape{2, 3}));
    EXPECT_EQ(x.to_vector<int>(), (Ints{1, 2, 3, 4, 5, 6}));
    EXPECT_THROW(host_tensor<float>({2}, [](HostSpan<float>) { throw std::runtime_error("no"); }),
                 std::runtime_error);
}

}  // namespace
}  // namespace firn
