// Hand-written C++ for the processor, with the vectors that it has: what native code is measured
// by.
#pragma once
#include <functional>
#include <vector>

namespace firn {
class Workers;
}

namespace firn::bench {

/// The memory of a contest: its arguments, and its results, which begin at 64 bytes.
struct ProcessorMemory {
    std::vector<const float*> arguments;
    std::vector<float*> results;
};
/// Does the work of a case on the threads of `workers`. It is empty for cases without a
/// hand-written version, and where the processor that this was built for has no vectors of 256
/// bits.
using ProcessorProgram = std::function<void(const ProcessorMemory& memory, Workers& workers)>;

ProcessorProgram chain_by_hand(int64_t count);
ProcessorProgram gelu_by_hand(int64_t count);
ProcessorProgram sum_by_hand(int64_t count);
ProcessorProgram row_sums_by_hand(int64_t rows, int64_t columns);
ProcessorProgram column_sums_by_hand(int64_t rows, int64_t columns);
ProcessorProgram softmax_by_hand(int64_t rows, int64_t columns);
ProcessorProgram layer_norm_by_hand(int64_t rows, int64_t columns);
ProcessorProgram wave_by_hand(int64_t side);
ProcessorProgram jacobi_by_hand(int64_t side, int sweeps);
ProcessorProgram n_body_by_hand(int64_t bodies);
ProcessorProgram mandelbrot_by_hand(int64_t side, int turns, float left, float top, float pixel);
ProcessorProgram scan_by_hand(int64_t count);
/// Sorts a part per thread by the standard library, and merges. It needs no vectors.
ProcessorProgram sort_on_threads(int64_t count);

/// y[rows, columns] = max(y + bias, 0), for what libraries leave to their users.
void add_bias_and_clip(float* y, const float* bias, int64_t rows, int64_t columns,
                       Workers& workers);

/// Only multiplies and adds, in registers: peak_operations() of f32. Argument 0 has the factor and
/// the term, result 0 kPeakParts elements.
ProcessorProgram compute_by_hand();
inline constexpr int64_t kPeakParts = 64;
double peak_operations();
/// Copies numbers past the caches.
ProcessorProgram copy_by_hand(int64_t count);

}  // namespace firn::bench
