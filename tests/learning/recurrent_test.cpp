// Recurrent layers: values against plain C++, gradients against differences.
#include <cmath>

#include "tests/learning/layer_checks.h"

namespace firn {
namespace {

struct HostCell {
    HostArray ih, hh;
    Floats bi, bh;
    int hidden;
    /// Sum k of W x + b, or of U h + c.
    double from(const HostArray& w, const Floats& b, int k, const std::vector<double>& v) const {
        double sum = b[size_t(k)];
        for (size_t e = 0; e < v.size(); ++e) sum += w.at({k, int(e)}) * v[e];
        return sum;
    }
};
double sigma(double x) { return 1 / (1 + std::exp(-x)); }

HostCell cell_of(const Module& module, int gates, int hidden, int in, size_t layer) {
    const auto all = module.variables();
    const auto at = [&](size_t k) { return host(all[4 * layer + k].variable); };
    return {{at(0), {gates * hidden, in}}, {at(1), {gates * hidden, hidden}}, at(2), at(3), hidden};
}

/// One step of a GRU, or of an LSTM where `c` is given.
void step_on_host(const HostCell& cell, const std::vector<double>& x, std::vector<double>& h,
                  std::vector<double>* c) {
    const int n = cell.hidden;
    std::vector<double> next(h.size());
    for (int k = 0; k < n; ++k) {
        const auto a = [&](int gate) { return cell.from(cell.ih, cell.bi, gate * n + k, x); };
        const auto b = [&](int gate) { return cell.from(cell.hh, cell.bh, gate * n + k, h); };
        if (c) {
            double& kept = (*c)[size_t(k)];
            kept = sigma(a(1) + b(1)) * kept + sigma(a(0) + b(0)) * std::tanh(a(2) + b(2));
            next[size_t(k)] = sigma(a(3) + b(3)) * std::tanh(kept);
        } else {
            const double reset = sigma(a(0) + b(0)), keep = sigma(a(1) + b(1));
            next[size_t(k)] = (1 - keep) * std::tanh(a(2) + reset * b(2)) + keep * h[size_t(k)];
        }
    }
    h = next;
}

TEST(RecurrentLayers, AreWhatTheirCellsSay) {
    SessionScope scope(Session::interpreter());
    const int batch = 2, length = 3, in = 4, hidden = 3;
    const GRU gru(in, hidden, {.layers = 2});
    const LSTM lstm(in, hidden, {.layers = 2});
    const HostArray x{numbers(batch * length * in), {batch, length, in}};
    const Tensor sequence = tensor(x.values, {batch, length, in});
    for (bool cells : {false, true}) {
        const Module& module = cells ? static_cast<const Module&>(lstm) : gru;
        Floats output, last(size_t(2 * batch * hidden)), memory = last;
        for (int b = 0; b < batch; ++b) {
            std::vector<std::vector<double>> h(2, std::vector<double>(hidden)), c = h;
            for (int t = 0; t < length; ++t) {
                std::vector<double> value;
                for (int e = 0; e < in; ++e) value.push_back(x.at({b, t, e}));
                for (size_t layer = 0; layer < 2; ++layer) {
                    const HostCell cell =
                        cell_of(module, cells ? 4 : 3, hidden, layer ? hidden : in, layer);
                    step_on_host(cell, value, h[layer], cells ? &c[layer] : nullptr);
                    value = h[layer];
                }
                for (double each : value) output.push_back(float(each));
            }
            for (size_t layer = 0; layer < 2; ++layer)
                for (size_t k = 0; k < size_t(hidden); ++k) {
                    const size_t at = (layer * size_t(batch) + size_t(b)) * size_t(hidden) + k;
                    last[at] = float(h[layer][k]), memory[at] = float(c[layer][k]);
                }
        }
        const Recurrence got = cells ? lstm(sequence) : gru(sequence);
        expect_near(got.output.to_vector<float>(), output);
        expect_near(got.hidden.to_vector<float>(), last);
        if (cells) expect_near(got.cell.to_vector<float>(), memory);
    }
    expect_gradients(gru, [&](const Tensors& a) { return gru(a[0]).output; }, {some({1, 3, in})});
    expect_gradients(lstm,
                     [&](const Tensors& a) {
                         const Recurrence r = lstm(a[0]);
                         return r.output + sum(r.cell);
                     },
                     {some({1, 3, in})});
    expect_parts(user_error([&] {
                     gru(some({2, 3, 5}));
                 }),
                 {"GRU: x is [2, 3, 5]", "[batch, length, 4]"});
    expect_parts(user_error([&] { LSTM()(some({2, 3, 5})); }), {"no parameters yet"});
}

TEST(RecurrentLayers, BeginWithAStateThatFits) {
    SessionScope scope(Session::interpreter());
    const GRU gru(2, 3);
    const LSTM lstm(2, 3);
    const Tensor x = some({1, 4, 2}), fits = some({1, 1, 3});
    const Recurrence half = gru(slice(x, {.axis = 1, .end = 2}), fits);
    expect_near(gru(slice(x, {.axis = 1, .begin = 2}), half.hidden).hidden.to_vector<float>(),
                gru(x, fits).hidden.to_vector<float>());
    EXPECT_EQ(gru(x, fits.as(f16)).hidden.dtype(), f32);
    const Shape wrong[] = {{1, 7, 3}, {1, 1, 4}, {2, 1, 3}, {0, 1, 3}, {1, 3}};
    for (const Shape& shape : wrong) {
        const std::string is = " is " + text(shape);
        expect_parts(user_error([&] { gru(x, zeros(shape)); }),
                     {"GRU: hidden" + is, "[1, 1, 3]", "recurrent_test.cpp"});
        expect_parts(user_error([&] { lstm(x, zeros(shape), fits); }),
                     {"LSTM: hidden" + is, "[1, 1, 3]", "recurrent_test.cpp"});
        expect_parts(user_error([&] { lstm(x, fits, zeros(shape)); }),
                     {"LSTM: cell" + is, "[1, 1, 3]", "recurrent_test.cpp"});
    }
    // Sizes that are known at the call: a batch of 1 does not repeat.
    const auto open = compile([&](Tensor x, Tensor h) { return gru(x, h).output; },
                              {f32(1, "length", 2), f32(1, "batch", 3)});
    EXPECT_EQ(Tensor(open(x, fits)).to_vector<float>(), gru(x, fits).output.to_vector<float>());
    expect_parts(user_error([&] {
                     open(x, zeros({1, 7, 3}));
                 }),
                 {"batch", "7", "recurrent_test.cpp"});
}

}  // namespace
}  // namespace firn
