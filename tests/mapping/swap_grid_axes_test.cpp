// Grid axes are swapped so that lanes follow contiguous reads when the last axis is short.
#include "compiler/mapping/before/swap_grid_axes.h"

#include <gtest/gtest.h>

#include "compiler/driver/explain.h"
#include "compiler/language.h"

namespace firn {
namespace {

/// Returns, by column of x and column of y, the sum over rows, as the gradient of a layer's weights
/// is.
Tensor by_columns(const Tensor& x, const Tensor& y) { return matmul(x.T(), y); }

std::string explained(const Shape& x, const Shape& y, Tensor (*f)(const Tensor&, const Tensor&)) {
    SessionScope scope(Session::interpreter());
    const auto made =
        compile([&](Tensor a, Tensor b) { return f(a, b); }, {f32(x[0], x[1]), f32(y[0], y[1])});
    return explain(*made.program());
}

TEST(SwapGridAxes, LanesLieAlongTheLongSideOfANarrowProduct) {
    const std::string of_ten = explained({4096, 512}, {4096, 10}, by_columns);
    EXPECT_NE(of_ten.find("n 10, x 512"), std::string::npos) << of_ten;
    const std::string of_16 = explained({4096, 512}, {4096, 16}, by_columns);
    EXPECT_NE(of_16.find("n 16, x 512"), std::string::npos) << of_16;
}

TEST(SwapGridAxes, WideProductsStay) {
    const std::string wide = explained({4096, 512}, {4096, 256}, by_columns);
    EXPECT_EQ(wide.find("n 256, x"), std::string::npos) << wide;
    const std::string rows = explained(
        {512, 4096}, {4096, 64}, [](const Tensor& x, const Tensor& y) { return matmul(x, y); });
    EXPECT_EQ(rows.find("n 64, x"), std::string::npos) << rows;
}

/// Small whole numbers: sums of them are exact in any order.
Tensor whole(const Shape& shape) {
    return reshape(cast<float>(arange(element_count(shape).constant()) * 7 % 11 - 5), shape);
}

TEST(SwapGridAxes, GiveWhatTheOracleGives) {
    const auto run = [](bool is_oracle, int64_t rows, int64_t centres, int64_t width) {
        SessionScope scope(is_oracle ? Session::oracle() : Session::interpreter());
        const auto f = compile(
            [&](Tensor x, Tensor y) {
                const Tensor all = reshape(by_columns(x, y), {centres, width, width});
                return all * 2.0f + unsqueeze(sum(y, {.axis = 0}), 0);
            },
            {f32(rows, centres * width), f32(rows, width)});
        if (!is_oracle) {
            const std::string text = explain(*f.program());
            EXPECT_NE(text.find("over n"), std::string::npos) << text;
        }
        return Tensor(f(whole({rows, centres * width}), whole({rows, width}))).to_vector<float>();
    };
    for (const auto& [centres, width] : {std::pair{33, 10}, std::pair{40, 12}, std::pair{401, 3}})
        EXPECT_EQ(run(false, 65, centres, width), run(true, 65, centres, width))
            << centres << " " << width;
}

}  // namespace
}  // namespace firn
