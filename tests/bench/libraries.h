// Contestants from libraries, each where it is installed. The libraries are opened at run time by
// their C interfaces, so that the benchmarks build where there are none.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/processor.h"

namespace firn::bench {

/// Does the work of a case by a library, on as many threads as `workers` has.
struct LibraryProgram {
    std::string name;
    ProcessorProgram run;
    /// Converts results to the layout of the case, where the library has another one; this is not
    /// timed. Null where the library writes the results itself.
    std::function<void(const ProcessorMemory& memory)> finish = nullptr;
    bool threads_spin = true;  // for a while after the last run, in which nothing may be timed
};
using Libraries = std::vector<LibraryProgram>;

/// Products of matrices: argument 0 is [rows, depth], or [depth, rows] where it is transposed,
/// argument 1 [depth, columns], or [columns, depth]. A fused one is relu(gelu(a) b + argument 2).
struct ProductTask {
    int64_t rows = 0, columns = 0, depth = 0;
    int64_t batch = 1;
    bool a_transposed = false, b_transposed = false;
    bool fused = false;
};
/// OpenBLAS and oneDNN.
Libraries product_libraries(const ProductTask& task);

enum class Convolution : uint8_t { Forward, GradientOfInput, GradientOfWeights };
/// A convolution of square images, or one of its gradients, with edges of size / 2 zeros.
/// Arguments: the images [images, in, side, side] (not for the gradient of the input), the gradient
/// of the result [images, out, side / stride, side / stride] (not for the result itself), and the
/// weights [out, in, size, size] (not for the gradient of the weights), in this order.
struct ConvolutionTask {
    int64_t images = 0, in = 0, out = 0, side = 0, size = 0, stride = 1;
    Convolution which = Convolution::Forward;
};
/// oneDNN: in the layout of the case, in layouts that it chooses, to which it converts arguments
/// and from which it converts the result, and without the time of these conversions.
Libraries convolution_libraries(const ConvolutionTask& task);

/// FFTW, planned by measurement: the transform of complex numbers whose parts are arguments 0 and
/// 1, to results 0 and 1, and the same of numbers whose parts lie side by side (converted before
/// and after).
Libraries transform_libraries(int64_t count);

/// The standard library's parallel algorithm, by TBB.
Libraries sort_libraries(int64_t count);

/// A library that stays open. get() returns null for a function that it does not have, and for all
/// where the library is not installed.
class OpenLibrary {
  public:
    explicit OpenLibrary(const char* file);
    template <class Function>
    Function* get(const char* name) const {
        return reinterpret_cast<Function*>(find(name));
    }

  private:
    void* find(const char* name) const;
    void* handle_;
};

/// The contestants of oneDNN alone.
void add_onednn(Libraries& libraries, const ProductTask& task);
void add_onednn(Libraries& libraries, const ConvolutionTask& task);

}  // namespace firn::bench
