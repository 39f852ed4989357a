// Fixture of kernels by hand.
#pragma once
#include "compiler/frontend/kernel.h"
#include "tests/frontend/oracle_session.h"

namespace firn {

/// Everything here holds for the oracle and for compiled kernels on the host.
class Kernels : public ::testing::TestWithParam<bool> {
  protected:
    Session session_ = GetParam() ? Session::interpreter() : Session::oracle();
    SessionScope scope_{session_};
};

inline Floats floats(int count, float step) {
    Floats out(static_cast<size_t>(count));
    for (int k = 0; k < count; ++k)
        out[static_cast<size_t>(k)] = static_cast<float>((k * 7) % 23) * step - 1.0f;
    return out;
}

/// The textbook's matrix product with tiles of shared memory; sizes that do not divide.
inline Tensor tiled_matmul(const Tensor& a, const Tensor& b, int tile) {
    const Size n = a.size(0), k = a.size(1), m = b.size(1);
    Tensor c = zeros({n, m});
    kernel({n, m}, {.group = {tile, tile}}, [&](Tensor i, Tensor j) {
        Shared a_tile = shared(f32, {tile, tile}), b_tile = shared(f32, {tile, tile});
        Tensor row = local_index(0), column = local_index(1);
        Tensor sum = 0.0f;
        for (Tensor t : loop(0, k, tile)) {
            a_tile(row, column) = zero(a)(i, t + column);
            b_tile(row, column) = zero(b)(t + row, j);
            barrier();
            for (Tensor q : loop(tile)) sum += a_tile(row, q) * b_tile(q, column);
            barrier();
        }
        c(i, j) = sum;
    });
    return c;
}

}  // namespace firn
