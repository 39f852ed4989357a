// Recurrent layers: a loop over positions that carries what is remembered.
#pragma once
#include "compiler/learning/module.h"

namespace firn {

struct RecurrentOptions {
    int layers = 1;
    bool bias = true;
};

/// What a recurrent layer gives.
struct Recurrence {
    Tensor output;  // [batch, length, hidden]: of the last layer, at every position
    Tensor hidden;  // [layers, batch, hidden]: of every layer, at the last position
    Tensor cell;    // the same of an LSTM's cells
};

// x is [batch, length, in], as with torch's batch_first. weight_ih_l0 [gates hidden, in],
// weight_hh_l0 [gates hidden, hidden], bias_ih_l0 and bias_hh_l0 [gates hidden], and those of
// further layers. Everything begins as 0, or as what the call gives: [layers, batch, hidden].

struct RecurrentLayer {
    Variable weight_ih, weight_hh, bias_ih, bias_hh;
};

/// What both have.
class Recurrent : public Module {
  public:
    Recurrent() = default;

  protected:
    Recurrent(const char* name, int64_t gates, int64_t in, int64_t hidden,
              const RecurrentOptions& options, SourceLine line);
    /// x, checked; UserError where there are no parameters or it does not fit.
    Tensor checked(const char* name, const Operand& x) const;
    /// 0 for every layer, sample and element.
    Tensor zero_state(const Tensor& x) const;
    std::vector<RecurrentLayer> layers_;
    int64_t hidden_ = 0;
};

/// Gates r, z, n: K. Cho et al., 2014, as torch has it: n = tanh(W x + b + r (U h + c)).
class GRU : public Recurrent {
  public:
    GRU() = default;
    GRU(int64_t in, int64_t hidden, const RecurrentOptions& options = {}, SourceLine line = here());
    Recurrence operator()(const Operand& x) const;
    Recurrence operator()(const Operand& x, const Tensor& hidden) const;
};

/// Gates i, f, g, o: S. Hochreiter and J. Schmidhuber, 1997, with the forget gate of F. Gers et
/// al., 2000.
class LSTM : public Recurrent {
  public:
    LSTM() = default;
    LSTM(int64_t in, int64_t hidden, const RecurrentOptions& options = {},
         SourceLine line = here());
    Recurrence operator()(const Operand& x) const;
    Recurrence operator()(const Operand& x, const Tensor& hidden, const Tensor& cell) const;
};

}  // namespace firn
