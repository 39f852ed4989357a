// Times a step of simulations on one process and on several: `mpirun -n 2
// build/bin/firn_bench_mpi`.
#include <firn/firn.h>
#include <firn/grid.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "tests/bench/mpi/timing.h"

using namespace firn;

namespace {

std::tuple<Tensor, Tensor> wave(Tensor u, Tensor v, Tensor dt) {
    auto [i, j] = indices<2>(u.shape());
    const Tensor laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
    const Tensor v_next = v + dt * laplacian;
    return {u + dt * v_next, v_next};
}

/// Jacobi's iteration, which needs the neighbours in each.
Tensor jacobi(Tensor u, Tensor b) {
    auto [i, j] = indices<2>(u.shape());
    for ([[maybe_unused]] Tensor k : loop(20))
        u = 0.25f * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - b);
    return u;
}

/// Returns the median of the milliseconds of a step, over rounds of several steps.
double median_ms(const Communicator& all, int steps, const std::function<void()>& step) {
    for (int k = 0; k < 5; ++k) step();
    std::vector<double> times;
    for (int round = 0; round < 15; ++round)
        times.push_back(milliseconds(all,
                                     [&] {
                                         for (int k = 0; k < steps; ++k) step();
                                     }) /
                        steps);
    return median(times);
}

}  // namespace

int main(int argc, char** argv) {
    Communicator world(argc, argv);
    SessionScope scope(cpu_session());
    for (const int64_t n : {512, 1024, 2048}) {
        Grid grid(world, {{"n", n}, {"m", n}});
        auto step = compile(grid, wave, {f32("n", "m"), f32("n", "m"), f32()});
        Tensor u = grid.part_of(firn::rand({n, n}, {.seed = 1})), v = zeros(grid.part());
        const double wave_ms =
            median_ms(world, n > 1000 ? 10 : 50, [&] { std::tie(u, v) = step(u, v, 0.1f); });
        auto relax = compile(grid, jacobi, {f32("n", "m"), f32("n", "m")});
        Tensor x = zeros(grid.part()), b = grid.part_of(firn::rand({n, n}, {.seed = 1}));
        const double jacobi_ms = median_ms(world, n > 1000 ? 3 : 10, [&] { x = relax(x, b); });
        if (world.rank() == 0) {
            std::printf("%lld x %lld on %d: wave %.4f ms, 20 of Jacobi %.4f ms\n",
                        static_cast<long long>(n), static_cast<long long>(n), world.size(), wave_ms,
                        jacobi_ms);
            std::fflush(stdout);
        }
    }
}
