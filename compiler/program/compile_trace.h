// The program behind each pass of the compiler.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace firn {

/// A record of this compile itself; the passes are not run again for it.
struct CompileTrace {
    struct Pass {
        std::string name;
        double milliseconds = 0;
        size_t nodes_before = 0, nodes_after = 0;
        std::map<std::string, int> fired;  // rules
        std::string text;                  // its result
    };
    struct Kernel {
        std::string name;  // of KernelInfo
        std::vector<Pass> passes;
    };
    /// A value of the schedule; row k is that of Program::verdicts[k]. Values that are followed
    /// through loops may read later ones.
    struct Value {
        std::vector<int> reads;       // values that it is computed from
        std::vector<int> arguments;   // and arguments of the program
        std::vector<int> dispatches;  // that compute it, in the order of for_dispatches
    };
    std::vector<Pass> graph;      // as it was recorded, and after every pass
    std::vector<Kernel> kernels;  // as the walk wrote them, and after every pass
    std::vector<Value> values;
};

}  // namespace firn
