// Times the sum of gradients over processes beside MPI's own on host memory, in turns:
// `mpirun -n 2 build/bin/firn_bench_sums`.
#include <firn/firn.h>
#include <firn/mpi.h>
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "tests/bench/mpi/timing.h"

using namespace firn;

int main(int argc, char** argv) {
    Communicator world(argc, argv);
    SessionScope scope(cpu_session());
    auto sum_over = compile([&](Tensor x) { return all_reduce(x, world); }, {f32("n")});
    for (const int64_t bytes : {int64_t{40000}, int64_t{1000000}, int64_t{10000000}}) {
        const int64_t n = bytes / 4;
        Tensor x = ones({n}), y = sum_over(x);
        std::vector<float> given(static_cast<size_t>(n), 1.0f), got(given.size());
        std::vector<double> firn_times, mpi_times;
        for (int round = 0; round < 31; ++round) {
            firn_times.push_back(milliseconds(world, [&] { y = sum_over(x); }));
            mpi_times.push_back(milliseconds(world, [&] {
                MPI_Allreduce(given.data(), got.data(), static_cast<int>(n), MPI_FLOAT, MPI_SUM,
                              MPI_COMM_WORLD);
            }));
        }
        const double ours = median(firn_times), theirs = median(mpi_times);
        if (world.rank() == 0) {
            std::printf("%lld bytes on %d: all_reduce %.4f ms, MPI_Allreduce %.4f ms, %.2f\n",
                        static_cast<long long>(bytes), world.size(), ours, theirs, ours / theirs);
            std::fflush(stdout);
        }
    }
}
