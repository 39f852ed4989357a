// Resizing and filters of pictures, against loops on the host and known pictures.
#include "compiler/algorithms/images.h"

#include <algorithm>
#include <cmath>

#include "tests/algorithms/agreement.h"

namespace firn {
namespace {

const Floats kTwelve{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

float at_edge(const Floats& x, int rows, int columns, int i, int j) {
    return x[size_t(std::clamp(i, 0, rows - 1) * columns + std::clamp(j, 0, columns - 1))];
}

TEST(Resize, LinearHasItsCornersAtCorners) {
    expect_values(
        [] {
            return resize(tensor({0.0f, 4.0f}, {1, 2}), 1, 4);
        },
        Floats{0, 1, 3, 4}, 1e-6);
}

TEST(Resize, NearestTakesThePixelBelowTheCentreAndKeepsTheType) {
    expect_values(
        [] {
            return resize(tensor({1, 2, 3, 4}, {2, 2}), 3, 5, {.mode = ResizeMode::Nearest});
        },
        Ints{1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 3, 3, 4, 4, 4});
}

// Keys's kernel is right for squares: in the middle a parabola stays one.
TEST(Resize, CubicKeepsAParabola) {
    Floats squares, expected;
    for (int k = 0; k < 9; ++k) squares.push_back(float(k * k));
    for (int k = 4; k < 14; ++k) expected.push_back(float(std::pow((k + 0.5) / 2 - 0.5, 2)));
    expect_values(
        [&] {
            const Tensor whole =
                resize(tensor(squares, {1, 9}), 1, 18, {.mode = ResizeMode::Cubic});
            return whole(0, range(4, 14));
        },
        expected, 1e-5);
}

TEST(Resize, AreaIsTheMeanOfWhatIsCovered) {
    expect_values(
        [] {
            return resize(tensor(kTwelve, {2, 6}), 1, 4, {.mode = ResizeMode::Area});
        },
        Floats{4 + 1.0f / 3, 5 + 2.0f / 3, 7 + 1.0f / 3, 8 + 2.0f / 3}, 1e-6);
}

TEST(Resize, ToTheSameSizeIsThePicture) {
    for (ResizeMode mode :
         {ResizeMode::Nearest, ResizeMode::Linear, ResizeMode::Cubic, ResizeMode::Area})
        expect_values(
            [&] {
                return resize(tensor(kTwelve, {2, 3, 2}), 2, 3, {.mode = mode});
            },
            kTwelve, 1e-6);
}

TEST(Resize, OfASymbolicSize) {
    expect_values(
        [] {
            auto f = compile(
                [](Tensor x) {
                    return resize(x, x.size(0) * Size(2), 2, {.mode = ResizeMode::Area});
                },
                {f32("h", "w")});
            return f(tensor(kTwelve, {2, 6}));
        },
        Floats{2, 5, 2, 5, 8, 11, 8, 11}, 1e-6);
}

TEST(Resize, HasTheGradientsOfDifferences) {
    for (ResizeMode mode : {ResizeMode::Linear, ResizeMode::Cubic, ResizeMode::Area}) {
        const GradientCheck found = check_gradients(
            [&](const std::vector<Tensor>& xs) {
                const Tensor y = resize(xs[0], 3, 5, {.mode = mode});
                return sum(y * y);
            },
            {random_tensor({4, 3}, 2)});
        EXPECT_TRUE(found) << found.where;
    }
}

TEST(Resize, ToNothingIsAnError) {
    expect_message(error_of([] {
                       resize(zeros({2, 2}), 0, 3);
                   }),
                   {"resize", "0 rows", "1 or more", "images_test.cpp:"});
    expect_message(error_of([] { resize(zeros({2}), 1, 3); }), {"resize", "[2]", "a picture is"});
}

TEST(GaussianBlur, IsTheWeightedMean) {
    const int rows = 5, columns = 4, radius = 3;
    const float sigma = 0.8f;  // 4 sigma are 3.2 pixels
    const Floats x = random_floats(rows * columns, 5);
    const auto weight = [&](int d) { return std::exp(-0.5 * d * d / double(sigma) / sigma); };
    Floats expected;
    for (int p = 0; p < rows * columns; ++p) {
        double value = 0, whole = 0;
        for (int i = -radius; i <= radius; ++i)
            for (int j = -radius; j <= radius; ++j) {
                const double w = weight(i) * weight(j);
                value += w * at_edge(x, rows, columns, p / columns + i, p % columns + j);
                whole += w;
            }
        expected.push_back(float(value / whole));
    }
    expect_values([&] { return gaussian_blur(tensor(x, {rows, columns}), sigma); }, expected, 1e-5);
    expect_values(
        [&] {
            return gaussian_blur(tensor(x, {rows, columns}), tensor(Floats{sigma}, Shape{}),
                                 radius);
        },
        expected, 1e-5);
}

TEST(GaussianBlur, OfNoWidthIsThePicture) {
    expect_values([] { return gaussian_blur(tensor(kTwelve, {2, 3, 2}), 0.0f); }, kTwelve);
    expect_values([] { return gaussian_blur(tensor(kTwelve, {2, 6}), Tensor(0.0f), 2); }, kTwelve);
}

TEST(GaussianBlur, OfAWidthThatIsNoneIsAnError) {
    for (float sigma : {NAN, INFINITY, 1e30f})
        expect_message(error_of([&] {
                           gaussian_blur(zeros({2, 2}), sigma);
                       }),
                       {"gaussian_blur", "less than 2^28"});
    expect_message(error_of([] {
                       gaussian_blur(zeros({2, 2}), -1.0f);
                   }),
                   {"gaussian_blur", "-1", "0 or more"});
}

using Window = std::pair<int, int>;
class Median : public ::testing::TestWithParam<Window> {};
INSTANTIATE_TEST_SUITE_P(Windows, Median,
                         ::testing::Values(Window{1, 1}, Window{3, 3}, Window{5, 5}, Window{2, 3},
                                           Window{1, 7}));

TEST_P(Median, IsTheMiddleOfTheWindow) {
    const auto [high, wide] = GetParam();
    const int rows = 6, columns = 7;
    const Floats x = random_floats(rows * columns, 6);
    Floats expected;
    for (int p = 0; p < rows * columns; ++p) {
        Floats seen;
        for (int i = 0; i < high; ++i)
            for (int j = 0; j < wide; ++j)
                seen.push_back(at_edge(x, rows, columns, p / columns + i - high / 2,
                                       p % columns + j - wide / 2));
        std::sort(seen.begin(), seen.end());
        expected.push_back(seen[seen.size() / 2]);
    }
    expect_values(
        [&, high = high, wide = wide] {
            return median_filter(tensor(x, {rows, columns}), {high, wide});
        },
        expected);
}

TEST(MedianFilter, KeepsTheTypeAndTakesChannelsApart) {
    expect_values(
        [] {
            return median_filter(tensor({1, 9, 2, 8, 3, 7}, {1, 3, 2}), {1, 3});
        },
        Ints{1, 9, 2, 8, 3, 7});
}

TEST(MedianFilter, OfALargeWindowIsAnError) {
    expect_message(error_of([] {
                       median_filter(zeros({9, 9}), 9);
                   }),
                   {"median_filter", "9 by 9", "1 to 49"});
}

}  // namespace
}  // namespace firn
