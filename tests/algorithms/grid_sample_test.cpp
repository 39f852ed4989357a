// grid_sample and resize against PyTorch's numbers, which torch_expected.py has stored.
#include "compiler/algorithms/grid_sample.h"

#include "compiler/algorithms/images.h"
#include "tests/algorithms/numpy_cases.h"

namespace firn {
namespace {

constexpr const char* kModes[] = {"nearest", "bilinear", "bicubic"};
constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};

/// The value, and the gradients of its product with the third input.
template <int Mode, int Padding, bool Corners>
Tensors sampled(const Tensors& in) {
    const GridSampleOptions options{static_cast<GridSampleMode>(Mode),
                                    static_cast<GridSamplePadding>(Padding), Corners};
    const Tensor y = grid_sample(in[0], in[1], options);
    Tensors out = grad(sum(y * in[2]), {in[0], in[1]}, {.allow_unused = true});
    out.insert(out.begin(), y);
    return out;
}

struct GridCase {
    std::string name;
    Make make;
};
template <int Mode, int Padding, bool Corners>
void add_cases(std::vector<GridCase>& out) {
    const std::string name = std::string("grid_") + kModes[Mode] + "_" + kPaddings[Padding] +
                             (Corners ? "_corners" : "_edges");
    out.push_back({name, sampled<Mode, Padding, Corners>});
    out.push_back({name + "_whole", sampled<Mode, Padding, Corners>});
    if (Padding) out.push_back({name + "_far", sampled<Mode, Padding, Corners>});
    if (Corners) out.push_back({name + "_one", sampled<Mode, Padding, Corners>});
    if (!Corners && Mode != 2) out.push_back({name + "_volume", sampled<Mode, Padding, Corners>});
}
template <int Mode>
void add_paddings(std::vector<GridCase>& out) {
    add_cases<Mode, 0, false>(out), add_cases<Mode, 0, true>(out);
    add_cases<Mode, 1, false>(out), add_cases<Mode, 1, true>(out);
    add_cases<Mode, 2, false>(out), add_cases<Mode, 2, true>(out);
}

class GridSample : public ::testing::TestWithParam<int> {};
TEST_P(GridSample, GivesWhatPyTorchGives) {
    std::vector<GridCase> all;
    const int mode = GetParam();
    mode == 0 ? add_paddings<0>(all) : mode == 1 ? add_paddings<1>(all) : add_paddings<2>(all);
    for (const GridCase& each : all) {
        SCOPED_TRACE(each.name);
        expect_numpy({each.name.c_str(), each.make, 2e-5, false});
    }
}
INSTANTIATE_TEST_SUITE_P(Modes, GridSample, ::testing::Values(0, 1, 2),
                         [](const auto& info) { return std::string(kModes[info.param]); });

TEST(GridSamples, OfSymbolicSizesGiveTheSame) {
    SessionScope scope(Session::interpreter());
    const Tensor x = rand({2, 3, 4, 5}, {.seed = 1}), by = rand({2, 3, 3, 6}, {.seed = 3});
    const Tensor grid = 3.0f * rand({2, 3, 6, 2}, {.seed = 2}) - 1.5f;
    for (const Make make : {sampled<1, 2, true>, sampled<2, 0, false>}) {
        auto compiled =
            compile([&](const Tensors& in) { return make(in); },
                    {f32("n", "c", "h", "w"), f32("n", "p", "q", 2), f32("n", "c", "p", "q")});
        const Tensors got = compiled({x, grid, by}), expected = make({x, grid, by});
        for (size_t k = 0; k < 3; ++k)
            expect_near(got[k].to_vector<float>(), expected[k].to_vector<float>(), 1e-5);
    }
}

TEST(GridSamples, OfHalvesAndIntegersHaveTheirTypes) {
    SessionScope scope(Session::oracle());
    const Tensor x = reshape(arange(4), {1, 1, 2, 2}), grid = zeros({1, 1, 1, 2});
    EXPECT_EQ(grid_sample(x, grid).dtype(), f32);
    EXPECT_EQ(grid_sample(x.as(f16), grid).dtype(), f16);
    EXPECT_EQ(grid_sample(x, grid).item<float>(), 1.5f);
}

TEST(GridSamples, RefuseWhatDoesNotFit) {
    SessionScope scope(Session::oracle());
    const Tensor x = zeros({1, 1, 2, 2}), grid = zeros({1, 3, 3, 2});
    const auto refused = [&](const Tensor& of, const Tensor& at, GridSampleMode mode) {
        try {
            grid_sample(of, at, {.mode = mode});
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const GridSampleMode linear = GridSampleMode::Bilinear;
    EXPECT_NE(refused(x(0), grid, linear).find("[n, rows, columns, 2]"), std::string::npos);
    EXPECT_NE(refused(x, zeros({1, 3, 3, 3}), linear).find("[1, 3, 3, 3]"), std::string::npos);
    EXPECT_NE(refused(x, zeros({2, 3, 3, 2}), linear).find("one size n"), std::string::npos);
    EXPECT_NE(refused(x, grid.as(i32), linear).find("floats"), std::string::npos);
    EXPECT_NE(refused(zeros({1, 1, 2, 2, 2}), zeros({1, 3, 3, 3, 3}), GridSampleMode::Bicubic)
                  .find("Bilinear"),
              std::string::npos);
}

template <ResizeMode Mode, int Rows, int Columns>
Tensors resized(const Tensors& in) {
    return {resize(in[0], Rows, Columns, {.mode = Mode})};
}

TEST(Resize, IsPyTorchsInterpolate) {
    const auto nearest = ResizeMode::Nearest, linear = ResizeMode::Linear, area = ResizeMode::Area;
    for (const NumpyRow& row : std::initializer_list<NumpyRow>{
             {"resize_nearest_4_5_to_7_3", resized<nearest, 7, 3>},
             {"resize_nearest_3_3_to_3_3", resized<nearest, 3, 3>},
             {"resize_nearest_6_4_to_2_2", resized<nearest, 2, 2>},
             {"resize_nearest_1_5_to_4_10", resized<nearest, 4, 10>},
             {"resize_nearest_5_7_to_1_1", resized<nearest, 1, 1>},
             {"resize_linear_4_5_to_7_3", resized<linear, 7, 3>, 1e-6},
             {"resize_linear_3_3_to_3_3", resized<linear, 3, 3>, 1e-6},
             {"resize_linear_6_4_to_2_2", resized<linear, 2, 2>, 1e-6},
             {"resize_linear_1_5_to_4_10", resized<linear, 4, 10>, 1e-6},
             {"resize_linear_5_7_to_1_1", resized<linear, 1, 1>, 1e-6},
             {"resize_area_3_3_to_3_3", resized<area, 3, 3>, 1e-6},
             {"resize_area_6_4_to_2_2", resized<area, 2, 2>, 1e-6},
             {"resize_area_5_7_to_1_1", resized<area, 1, 1>, 1e-6},
             {"resize_cubic_4_5_to_7_3", resized<ResizeMode::Cubic, 7, 3>, 1e-5},
             {"resize_cubic_6_4_to_2_2", resized<ResizeMode::Cubic, 2, 2>, 1e-5}}) {
        SCOPED_TRACE(row.name);
        expect_numpy(row);
    }
}

}  // namespace
}  // namespace firn
