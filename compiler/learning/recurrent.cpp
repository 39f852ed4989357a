// Recurrent layers: the products with x at once, then a loop.
#include "compiler/learning/recurrent.h"

#include <cmath>

#include "compiler/algorithms/matmul.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/learning/initialise.h"
#include "compiler/learning/may_equal.h"

namespace firn {
namespace {

Tensor affine(const Tensor& x, const Variable& weight, const Variable& bias) {
    const Tensor y = matmul(x, transpose(weight.value()));
    return bias.exists() ? y + bias.value() : y;
}

/// Gate k of [batch, gates hidden].
Tensor gate(const Tensor& all, int k, int64_t hidden) {
    return slice(all, {.axis = 1, .begin = k * hidden, .end = (k + 1) * hidden});
}

/// Runs a layer: `advance` gets the projections of x and of h at a position, and changes the
/// carried values. Returns h at all positions.
template <class Advance>
Tensor run_layer(const RecurrentLayer& layer, const Tensor& x, Tensor& h, const Advance& advance) {
    const Tensor from_x = affine(x, layer.weight_ih, layer.bias_ih);
    const Size batch = from_x.size(0), length = from_x.size(1), gates = from_x.size(2);
    Tensor output = zeros({batch, length, h.size(1)}, from_x.dtype());
    for (Tensor t : loop(length)) {
        auto [row, column] = indices<2>({batch, gates});
        advance(from_x(row, t, column), affine(h, layer.weight_hh, layer.bias_hh));
        auto [b, k] = indices<2>(h.shape());
        output(b, t, k) = h;
    }
    return output;
}

/// Layer k of [layers, batch, hidden].
Tensor layer_of(const Tensor& all, size_t k) {
    return squeeze(slice(all, {.axis = 0, .begin = Size(k), .end = Size(k + 1)}), {0});
}

}  // namespace

Recurrent::Recurrent(const char* name, int64_t gates, int64_t in, int64_t hidden,
                     const RecurrentOptions& options, SourceLine line)
    : hidden_(hidden) {
    LineScope at(line);
    if (in < 1 || hidden < 1 || options.layers < 1)
        refuse(std::string(name) + ": " + std::to_string(options.layers) + " layers from " +
               std::to_string(in) + " to " + std::to_string(hidden) + " elements; give 1 or more");
    const auto bound = static_cast<float>(1 / std::sqrt(double(hidden)));
    const Initialiser uniform = uniform_init(-bound, bound);
    for (int k = 0; k < options.layers; ++k) {
        const std::string end = "_l" + std::to_string(k);
        RecurrentLayer& layer = layers_.emplace_back();
        layer.weight_ih =
            add_parameter("weight_ih" + end, {gates * hidden, k == 0 ? in : hidden}, uniform);
        layer.weight_hh = add_parameter("weight_hh" + end, {gates * hidden, hidden}, uniform);
        if (!options.bias) continue;
        layer.bias_ih = add_parameter("bias_ih" + end, {gates * hidden}, uniform);
        layer.bias_hh = add_parameter("bias_hh" + end, {gates * hidden}, uniform);
    }
}

Tensor Recurrent::checked(const char* name, const Operand& x) const {
    if (layers_.empty()) Variable().value();  // says that there are no parameters
    const Shape shape = x.tensor().shape();
    const Size in = layers_[0].weight_ih.shape()[1];
    if (shape.size() != 3 || !may_equal({shape[2]}, {in}))
        refuse(std::string(name) + ": x is " + text(shape) + "; it is [batch, length, " +
               in.text() + "]");
    return x.tensor().dtype().is_half() ? x.tensor().as(f32) : x.tensor();
}

Tensor Recurrent::checked_state(const char* what, const Tensor& state, const Tensor& x) const {
    const Shape wanted{layers_.size(), x.size(0), hidden_}, shape = state.shape();
    if (!may_equal(shape, wanted))
        refuse(std::string(what) + " is " + text(shape) + "; it is [layers, batch, hidden], " +
               text(wanted));
    return reshape(state, wanted).as(x.dtype());  // symbolic sizes are compared when it is called
}

Tensor Recurrent::zero_state(const Tensor& x) const {
    return zeros({layers_.size(), x.size(0), hidden_}, x.dtype());
}

GRU::GRU(int64_t in, int64_t hidden, const RecurrentOptions& options, SourceLine line)
    : Recurrent("GRU", 3, in, hidden, options, line) {}

Recurrence GRU::operator()(const Operand& x) const {
    LineScope at(x.line());
    const Tensor in = checked("GRU", x);
    return (*this)(in, zero_state(in));
}

Recurrence GRU::operator()(const Operand& x, const Tensor& hidden) const {
    LineScope at(x.line());
    Recurrence out{checked("GRU", x), {}, {}};
    const Tensor state = checked_state("GRU: hidden", hidden, out.output);
    std::vector<Tensor> last;
    for (size_t k = 0; k < layers_.size(); ++k) {
        Tensor h = layer_of(state, k);
        out.output = run_layer(layers_[k], out.output, h, [&](const Tensor& a, const Tensor& b) {
            const Tensor reset = sigmoid(gate(a, 0, hidden_) + gate(b, 0, hidden_)),
                         keep = sigmoid(gate(a, 1, hidden_) + gate(b, 1, hidden_)),
                         next = tanh(gate(a, 2, hidden_) + reset * gate(b, 2, hidden_));
            h = (1.0f - keep) * next + keep * h;
        });
        last.push_back(h);
    }
    out.hidden = stack(last);
    return out;
}

LSTM::LSTM(int64_t in, int64_t hidden, const RecurrentOptions& options, SourceLine line)
    : Recurrent("LSTM", 4, in, hidden, options, line) {}

Recurrence LSTM::operator()(const Operand& x) const {
    LineScope at(x.line());
    const Tensor in = checked("LSTM", x), zero = zero_state(in);
    return (*this)(in, zero, zero);
}

Recurrence LSTM::operator()(const Operand& x, const Tensor& hidden, const Tensor& cell) const {
    LineScope at(x.line());
    Recurrence out{checked("LSTM", x), {}, {}};
    const Tensor state = checked_state("LSTM: hidden", hidden, out.output),
                 memory = checked_state("LSTM: cell", cell, out.output);
    std::vector<Tensor> last, cells;
    for (size_t k = 0; k < layers_.size(); ++k) {
        Tensor h = layer_of(state, k), c = layer_of(memory, k);
        out.output = run_layer(layers_[k], out.output, h, [&](const Tensor& a, const Tensor& b) {
            const auto sum = [&](int which) {
                return gate(a, which, hidden_) + gate(b, which, hidden_);
            };
            c = sigmoid(sum(1)) * c + sigmoid(sum(0)) * tanh(sum(2));
            h = sigmoid(sum(3)) * tanh(c);
        });
        last.push_back(h);
        cells.push_back(c);
    }
    out.hidden = stack(last);
    out.cell = stack(cells);
    return out;
}

}  // namespace firn
