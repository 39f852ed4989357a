// rfft and irfft, slogdet, and reads beyond the edges against numpy.
#include "tests/algorithms/numpy_cases.h"

namespace firn {
namespace {

using In = const Tensors&;

/// Runs all stored cases whose names begin so.
template <class F>
void for_cases(const std::string& begin, const F& each) {
    int count = 0;
    for (const auto& [name, known] : numpy_cases()) {
        if (name.rfind(begin, 0) != 0) continue;
        SCOPED_TRACE(name);
        each(name), ++count;
    }
    EXPECT_GT(count, 0) << begin;
}

Tensors parts(const Complex& z) { return {z.re, z.im}; }
template <int N>
Tensors cut_rfft(In in) {
    return parts(rfft(in[0], {.n = N}));
}
template <int N>
Tensors cut_irfft(In in) {
    return {irfft(Complex{in[0], in[1]}, {.n = N})};
}
struct Length {
    int n;
    Make rfft, irfft;
};
template <int... N>
std::vector<Length> lengths(std::integer_sequence<int, N...>) {
    return {{N + 1, cut_rfft<N + 1>, cut_irfft<N + 1>}...};
}
const Length& length_of(const std::string& name) {
    static const std::vector<Length> all = lengths(std::make_integer_sequence<int, 37>());
    return all[static_cast<size_t>(std::atoi(name.substr(name.rfind('_') + 1).c_str())) - 1];
}

TEST(NumpySpectra, RfftOfEveryLengthAgrees) {
    for_cases("rfft_", [](const std::string& name) {
        if (!std::isdigit(name.back()) || name == "rfft_f64") return;
        expect_numpy({name.c_str(), length_of(name).rfft, 2e-5});
    });
    expect_numpy({"rfft_8_8", [](In in) { return parts(rfft(in[0])); }, 2e-5});
    expect_numpy({"rfft_axis", [](In in) { return parts(rfft(in[0], {.axis = 1})); }, 2e-5});
    expect_numpy({"rfft_ints", [](In in) { return parts(rfft(in[0])); }, 2e-5});
    expect_numpy({"rfft_f64", [](In in) { return parts(rfft(in[0])); }, 1e-12});
}

TEST(NumpySpectra, IrfftOfEveryLengthAgrees) {
    for_cases("irfft_", [](const std::string& name) {
        if (!std::isdigit(name.back())) return;
        expect_numpy({name.c_str(), length_of(name).irfft, 2e-5});
    });
    expect_numpy({"irfft_9_16", [](In in) { return Tensors{irfft(Complex{in[0], in[1]})}; }, 2e-5});
    expect_numpy({"irfft_axis",
                  [](In in) {
                      return Tensors{irfft(Complex{in[0], in[1]}, {.axis = 0})};
                  },
                  2e-5});
}

TEST(NumpySpectra, GradientsAreThoseOfDifferences) {
    const auto there = [](const Tensors& x) { return square(rfft(x[0], {.n = 5}).re); };
    EXPECT_TRUE(check_gradients(there, {arange(7).as(f32) * 0.3f}).agree);
    const auto energy = [](const Tensors& x) {
        const Complex z = rfft(x[0]);
        return z.re * z.re + z.im;
    };
    EXPECT_TRUE(check_gradients(energy, {tensor({0.5f, -1.0f, 2.0f, 0.25f})}).agree);
    const auto back = [](const Tensors& x) { return square(irfft(Complex{x[0], x[1]}, {.n = 5})); };
    EXPECT_TRUE(
        check_gradients(back, {tensor({1.0f, 2.0f, -1.0f}), tensor({0.5f, 1.0f, 3.0f})}).agree);
}

TEST(NumpySpectra, WithoutNumbersTheyAreRefused) {
    SessionScope scope(Session::oracle());
    EXPECT_THROW(rfft(zeros({0})), UserError);
    EXPECT_THROW(rfft(zeros({3}), {.n = 0}), UserError);
    EXPECT_THROW(irfft(Complex{zeros({1}), zeros({1})}), UserError);  // 2 (1 - 1)
}

TEST(NumpySlogdet, Agrees) {
    for_cases("slogdet_", [](const std::string& name) {
        const Make both = [](In in) {
            const Slogdet d = slogdet(in[0]);
            return Tensors{d.sign, d.logabsdet};
        };
        expect_numpy({name.c_str(), both, 1e-4, false});
    });
}

TEST(NumpySlogdet, GradientIsTheInverseTransposed) {
    const auto of = [](const Tensors& x) {
        const Slogdet d = slogdet(x[0]);
        return d.sign * d.logabsdet;
    };
    EXPECT_TRUE(check_gradients(of, {tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2})}).agree);
    const auto batch = [](const Tensors& x) { return slogdet(x[0]).logabsdet; };
    EXPECT_TRUE(check_gradients(batch, {rand({3, 4, 4}, {.seed = 1}) + 2.0f * eye(4)}).agree);
}

/// Pads by index with each mode; the stored numbers are those of numpy's pad.
template <int Mode>
Tensors read_at(In in) {
    const Tensor &x = in[0], &i = in[1];
    return {Mode == 0 ? x(i) : Mode == 1 ? wrap(x)(i) : Mode == 2 ? mirror(x)(i) : reflect(x)(i)};
}

TEST(NumpyEdges, ReadsBeyondThemAreWhatPadPutsThere) {
    const std::pair<const char*, Make> modes[] = {{"read_edge", read_at<0>},
                                                  {"read_wrap", read_at<1>},
                                                  {"read_symmetric", read_at<2>},
                                                  {"read_reflect", read_at<3>}};
    for (const auto& [mode, read] : modes)
        for_cases(mode, [read = read](const std::string& name) {
            expect_numpy({name.c_str(), read});
        });
}

TEST(NumpyEdges, ReflectAgreesWithPadAndHasItsGradient) {
    for (int n : {1, 2, 3, 7})
        for (int by : {1, 2, 3, 9}) {
            SCOPED_TRACE(std::to_string(n) + " by " + std::to_string(by));
            const auto read = [by](const Tensors& x) {
                return square(reflect(x[0])(index(x[0], 0) - by) +
                              reflect(x[0])(index(x[0], 0) + by));
            };
            EXPECT_TRUE(check_gradients(read, {arange(n).as(f32) * 0.7f - 1.0f}).agree);
            const Tensor x = arange(n).as(f32);
            const Tensor whole = pad(x, PadMode::Reflect, {.before = {by}, .after = {by}});
            EXPECT_EQ(reflect(x)(arange(n + 2 * by) - by).to_vector<float>(),
                      whole.to_vector<float>());
        }
}

TEST(NumpyEdges, ReflectOfIndicesBeyond32BitsAndOfSeveralAxes) {
    for (const Way& way : ways()) {
        SessionScope scope(way.session);
        SCOPED_TRACE(way.name);
        const Tensor x = tensor({1, 2, 3});
        const Tensor far = tensor(std::vector<int64_t>{-5'000'000'001, 4'000'000'001, -1, 3});
        EXPECT_EQ(reflect(x)(far).to_vector<int>(), (Ints{2, 2, 2, 2}));
        EXPECT_EQ(reflect(tensor({7}))(far).to_vector<int>(), (Ints{7, 7, 7, 7}));
        const Tensor m = reshape(arange(6), {2, 3});
        EXPECT_EQ(reflect(m)(-1, 3).item<int>(), 4);
        EXPECT_EQ(reflect(m)(range(0, 1), tensor({-1, 4})).to_vector<int>(), (Ints{1, 0}));
        EXPECT_EQ(reflect(tensor({1, 2}))(tensor({INT32_MIN, INT32_MAX})).to_vector<int>(),
                  (Ints{1, 2}));
    }
}

}  // namespace
}  // namespace firn
