// Programs with kernels in hand-written GLSL, run by the same executor as compiled ones.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/executor.h"

namespace firn::bench {

/// The form in which a kernel binds a buffer of 4-byte elements, one or four at a time.
enum class As : uint8_t { Texels, Texels4, IntTexels, Floats, Vec4s, Ints };

/// A buffer of a kernel by hand. In the kernel's text `name_at(k)` reads element k (of one or four)
/// in every form; a storage buffer is the array `name`. A local variable of that name hides both.
struct HandBinding {
    std::string name;
    As as = As::Floats;
    int buffer = 0;  // arguments come first, then results, then temporaries
    bool written = false;
    bool coherent = false;  // one invocation reads what another one of the same dispatch stored
};

/// The text's version, extensions, group size, bindings and constants are written for it, and
/// `eight_sum` and `eight_max`, of eight neighbouring lanes, by shuffles; and `eight_shuffle(x,
/// k)`, the value of the k-th of them.
struct HandKernel {
    std::string name;
    std::string body;
    std::array<uint32_t, 3> group_size{1, 1, 1};
    std::array<int, 3> groups{1, 1, 1};
    std::vector<HandBinding> bindings;
    std::vector<std::pair<std::string, int>> constants;
    MatrixUnit matrix_unit = {};  // the one that the body uses; no rows: none
};

/// A dispatch. `buffers`, if there are any, replace those that the kernel names.
struct HandStep {
    int kernel = 0;
    std::vector<int> buffers;
};

struct HandProgram {
    std::vector<HandKernel> kernels;
    std::vector<int64_t> temporaries;  // elements of each
    std::vector<HandStep> steps;       // none: every kernel once
};

/// Finds the begin of each of the counts of a radix sort, DIGITS x RUNS. One subgroup: each lane
/// adds up a part, then goes through it again from its begin.
inline constexpr const char* kScanCounts = R"(
void main() {
    int lane = int(gl_LocalInvocationID.x), part = DIGITS * RUNS / 8, total = 0;
    for (int k = 0; k < part; ++k) total += counts_at(lane * part + k);
    int before = 0;
    for (int k = 0; k < 8; ++k) {
        int other = eight_shuffle(total, k);
        before += k < lane ? other : 0;
    }
    for (int k = 0; k < part; ++k) {
        begins[lane * part + k] = before;
        before += counts_at(lane * part + k);
    }
}
)";

/// A hand-written program with memory of its own for arguments and results.
class HandWritten {
  public:
    HandWritten(Executor& executor, const std::string& name, const HandProgram& program,
                const std::vector<std::vector<float>>& arguments,
                const std::vector<int64_t>& results);
    std::vector<float> read(size_t result) const;
    void run() { executor_.run(program_, call_); }

  private:
    Executor& executor_;
    std::shared_ptr<const Program> program_;
    Call call_;
};

}  // namespace firn::bench
