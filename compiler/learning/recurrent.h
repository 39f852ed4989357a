// Recurrent layers: a loop over positions that carries the state.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

/// The options of a recurrent layer.
struct RecurrentOptions {
    int layers = 1;  ///< layers that follow one another
    bool bias = true;
};

/// The result of a recurrent layer.
struct Recurrence {
    Tensor output;  ///< [batch, length, hidden]: the last layer, at every position
    Tensor hidden;  ///< [layers, batch, hidden]: every layer, at the last position
    Tensor cell;    ///< the same for an LSTM's cells; a GRU has none
};

/// The parameters of one layer.
struct RecurrentLayer {
    Variable weight_ih, weight_hh, bias_ih, bias_hh;
};

/// The base of GRU and LSTM.
///
/// x is [batch, length, in], as with torch's batch_first. weight_ih_l0 [gates hidden, in],
/// weight_hh_l0 [gates hidden, hidden], bias_ih_l0 and bias_hh_l0 [gates hidden], and those of
/// further layers; first values are uniform within 1 / sqrt(hidden). The carried state begins as 0,
/// or as the call's argument: [layers, batch, hidden]. f16 and bf16 are computed in f32.
class Recurrent : public Module {
  public:
    /// Makes a layer without parameters, to be assigned later.
    Recurrent() = default;

  protected:
    /// UserError: a number below 1.
    Recurrent(const char* name, int64_t gates, int64_t in, int64_t hidden,
              const RecurrentOptions& options, SourceLine line);
    /// x, checked; UserError where there are no parameters or it does not fit.
    Tensor checked(const char* name, const Operand& x) const;
    /// Returns the carried state, checked and in the type of x; UserError if it does not fit.
    Tensor checked_state(const char* what, const Tensor& state, const Tensor& x) const;
    /// 0 for every layer, sample and element.
    Tensor zero_state(const Tensor& x) const;
    std::vector<RecurrentLayer> layers_;
    int64_t hidden_ = 0;
};

/// Gates r, z, n: K. Cho et al., 2014, as torch has it: n = tanh(W x + b + r (U h + c)).
///
/// Examples: after `Recurrence r = GRU(2, 3)(ones({4, 5, 2}));` `r.output.shape()` is `[4, 5, 3]`,
/// `r.hidden.shape()` is `[1, 4, 3]`.
class GRU : public Recurrent {
  public:
    /// Makes a layer without parameters, to be assigned later.
    GRU() = default;
    /// Maps `in` to `hidden` elements. UserError if a number is below 1.
    GRU(int64_t in, int64_t hidden, const RecurrentOptions& options = {}, SourceLine line = here());
    /// Begins with 0.
    Recurrence operator()(const Operand& x) const;
    /// Begins with `hidden` [layers, batch, hidden].
    Recurrence operator()(const Operand& x, const Tensor& hidden) const;
};

/// Gates i, f, g, o: S. Hochreiter and J. Schmidhuber, 1997, with the forget gate of F. Gers et
/// al., 2000.
///
/// Examples: after `Recurrence r = LSTM(2, 3, {.layers = 2})(ones({4, 5, 2}));` `r.output.shape()`
/// is `[4, 5, 3]`, `r.cell.shape()` is `[2, 4, 3]`.
class LSTM : public Recurrent {
  public:
    /// Makes a layer without parameters, to be assigned later.
    LSTM() = default;
    /// Maps `in` to `hidden` elements. UserError if a number is below 1.
    LSTM(int64_t in, int64_t hidden, const RecurrentOptions& options = {},
         SourceLine line = here());
    /// Begins with 0.
    Recurrence operator()(const Operand& x) const;
    /// Begins with `hidden` and `cell`, both [layers, batch, hidden].
    Recurrence operator()(const Operand& x, const Tensor& hidden, const Tensor& cell) const;
};

}  // namespace firn
