// OpenBLAS, FFTW and the standard library's parallel algorithms as contestants.
#include "tests/bench/libraries.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "compiler/base/error.h"
#include "compiler/host/workers.h"

namespace firn::bench {

OpenLibrary::OpenLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {}

void* OpenLibrary::find(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

namespace {

/// Opens OpenBLAS such that its threads sleep as soon as a product is done. By default they spin
/// for 2^26 ticks of the processor, some 25 ms, on a core that the next contestant should have.
OpenLibrary open_blas() {
    setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0);
    return OpenLibrary("libopenblas.so.0");
}

struct OpenBlas {
    OpenLibrary library = open_blas();
    void (*set_threads)(int) = library.get<void(int)>("openblas_set_num_threads");
    void (*multiply)(int order, int transpose_a, int transpose_b, int rows, int columns, int depth,
                     float alpha, const float* a, int stride_a, const float* b, int stride_b,
                     float beta, float* y, int stride_y) =
        library.get<void(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int)>("cblas_sgemm");
    bool there() const { return set_threads && multiply; }
};

/// Products [first, last) of a batch.
void multiply_by(const OpenBlas& blas, const ProductTask& task, const float* a, const float* b,
                 float* y, int64_t first, int64_t last) {
    constexpr int kRowMajor = 101, kAsItIs = 111, kTransposed = 112;
    const int rows = int(task.rows), columns = int(task.columns), depth = int(task.depth);
    for (int64_t k = first; k < last; ++k)
        blas.multiply(kRowMajor, task.a_transposed ? kTransposed : kAsItIs,
                      task.b_transposed ? kTransposed : kAsItIs, rows, columns, depth, 1.0f,
                      a + k * task.rows * task.depth, task.a_transposed ? rows : depth,
                      b + k * task.depth * task.columns, task.b_transposed ? depth : columns, 0.0f,
                      y + k * task.rows * task.columns, columns);
}

void add_openblas(Libraries& libraries, const ProductTask& task) {
    static const OpenBlas blas;
    if (!blas.there()) return;
    const ProcessorProgram activate = task.fused ? gelu_by_hand(task.rows * task.depth) : nullptr;
    if (task.fused && !activate) return;
    libraries.push_back({"OpenBLAS", [=](const ProcessorMemory& memory, Workers& workers) {
                             blas.set_threads(int(workers.size()));
                             const float* a = memory.arguments[0];
                             if (task.fused) {
                                 // The memory of vectors begins anywhere, that of results does not.
                                 static std::vector<float> room;
                                 room.resize(size_t(task.rows * task.depth + 16));
                                 const auto at = reinterpret_cast<uintptr_t>(room.data());
                                 float* active = room.data() + (64 - at % 64) % 64 / 4;
                                 activate({{a}, {active}}, workers);
                                 a = active;
                             }
                             multiply_by(blas, task, a, memory.arguments[1], memory.results[0], 0,
                                         task.batch);
                             if (task.fused)
                                 add_bias_and_clip(memory.results[0], memory.arguments[2],
                                                   task.rows, task.columns, workers);
                         }});
    if (task.batch == 1) return;
    libraries.push_back(
        {"OpenBLAS, a product per thread", [=](const ProcessorMemory& memory, Workers& workers) {
             blas.set_threads(1);
             workers.run(uint64_t(task.batch), workers.size(),
                         [&](uint64_t first, uint64_t last, size_t) {
                             multiply_by(blas, task, memory.arguments[0], memory.arguments[1],
                                         memory.results[0], int64_t(first), int64_t(last));
                         });
         }});
}

using Plan = struct FftwPlan*;

struct Fftw {
    OpenLibrary base{"libfftw3f.so.3"}, by_openmp{"libfftw3f_omp.so.3"},
        by_threads{"libfftw3f_threads.so.3"};
    /// OpenMP keeps its threads, the other form makes them for each transform.
    const OpenLibrary& threads =
        by_openmp.get<int()>("fftwf_init_threads") ? by_openmp : by_threads;
    int (*start_threads)() = threads.get<int()>("fftwf_init_threads");
    void (*set_threads)(int) = threads.get<void(int)>("fftwf_plan_with_nthreads");
    struct Axis {
        int count, stride_in, stride_out;
    };
    Plan (*plan_split)(int rank, const Axis* axes, int outer, const Axis* outer_axes, float* re,
                       float* im, float* out_re, float* out_im, unsigned flags) =
        base.get<Plan(int, const Axis*, int, const Axis*, float*, float*, float*, float*,
                      unsigned)>("fftwf_plan_guru_split_dft");
    Plan (*plan_pairs)(int count, float* in, float* out, int sign, unsigned flags) =
        base.get<Plan(int, float*, float*, int, unsigned)>("fftwf_plan_dft_1d");
    void (*run_split)(Plan plan, float* re, float* im, float* out_re, float* out_im) =
        base.get<void(Plan, float*, float*, float*, float*)>("fftwf_execute_split_dft");
    void (*run)(Plan plan) = base.get<void(Plan)>("fftwf_execute");
    void* (*allocate)(size_t) = base.get<void*(size_t)>("fftwf_malloc");
    bool there() const {
        return start_threads && set_threads && plan_split && plan_pairs && run_split && run &&
               allocate;
    }
};
constexpr unsigned kFftwMeasure = 0, kFftwPreserve = 16;

/// The memory and the plan of one transform, made when it first runs.
struct Transform {
    int64_t count = 0;
    Plan plan = nullptr;
    float *in = nullptr, *out = nullptr;  // pairs of parts, or all real parts, then all others
};

/// Planning writes to the memory that it plans for.
void prepare(const Fftw& fftw, Transform& transform, size_t threads, bool pairs) {
    if (transform.plan) return;
    static std::once_flag started;
    std::call_once(started, [&] { fftw.start_threads(); });
    fftw.set_threads(int(threads));
    const auto count = size_t(transform.count);
    transform.in = static_cast<float*>(fftw.allocate(8 * count));
    transform.out = static_cast<float*>(fftw.allocate(8 * count));
    const Fftw::Axis axis{int(count), 1, 1};
    transform.plan =
        pairs ? fftw.plan_pairs(int(count), transform.in, transform.out, -1,
                                kFftwMeasure | kFftwPreserve)
              : fftw.plan_split(1, &axis, 0, nullptr, transform.in, transform.in + count,
                                transform.out, transform.out + count, kFftwMeasure | kFftwPreserve);
    if (!transform.plan) throw UserError("FFTW makes no plan of the transform");
}

}  // namespace

Libraries product_libraries(const ProductTask& task) {
    Libraries libraries;
    add_openblas(libraries, task);
    add_onednn(libraries, task);
    return libraries;
}

Libraries convolution_libraries(const ConvolutionTask& task) {
    Libraries libraries;
    add_onednn(libraries, task);
    return libraries;
}

Libraries transform_libraries(int64_t count) {
    static const Fftw fftw;
    if (!fftw.there()) return {};
    const auto split = std::make_shared<Transform>(Transform{count}),
               pairs = std::make_shared<Transform>(Transform{count});
    return {{"FFTW, parts apart",
             [=](const ProcessorMemory& memory, Workers& workers) {
                 prepare(fftw, *split, workers.size(), false);
                 // It keeps what it reads.
                 fftw.run_split(split->plan, const_cast<float*>(memory.arguments[0]),
                                const_cast<float*>(memory.arguments[1]), memory.results[0],
                                memory.results[1]);
             }},
            {"FFTW, pairs",
             [=](const ProcessorMemory& memory, Workers& workers) {
                 if (!pairs->plan) {
                     prepare(fftw, *pairs, workers.size(), true);
                     for (int64_t k = 0; k < count; ++k)
                         pairs->in[2 * k] = memory.arguments[0][k],
                                       pairs->in[2 * k + 1] = memory.arguments[1][k];
                 }
                 fftw.run(pairs->plan);
             },
             [=](const ProcessorMemory& memory) {
                 for (int64_t k = 0; k < count; ++k)
                     memory.results[0][k] = pairs->out[2 * k],
                     memory.results[1][k] = pairs->out[2 * k + 1];
             }}};
}

}  // namespace firn::bench
