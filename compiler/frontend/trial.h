// A call that is run again and again, to be timed and compared; internal.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/rounding.h"
#include "compiler/program/executor.h"

namespace firn {

/// A call with memory for its results. Every program that it runs has the same arguments and
/// results.
class Trial {
  public:
    Trial(Executor& executor, const Program& program, Call call);

    /// Returns the number of dispatches and the milliseconds per dispatch, by kernel.
    std::map<std::string, KernelTime> run(const std::shared_ptr<const Program>& program);
    std::vector<std::vector<std::byte>> results() const;
    /// Returns the results of `program`, and their change if the arguments are moved by a few
    /// roundings.
    std::vector<Reference> reference(const std::shared_ptr<const Program>& program);
    /// Returns the deviation of the last run's results; `terms`: see most_terms.
    Deviation deviation(const std::vector<Reference>& reference, double terms) const;

  private:
    std::shared_ptr<Memory> moved_copy(const Memory& memory, DType dtype, uint64_t seed);
    std::shared_ptr<Memory> memory_of_result(const Program& program, size_t k);

    Executor& executor_;
    Call call_;
    std::vector<int64_t> bytes_;
    std::vector<DType> dtypes_;
};

/// Keeps profiling on while it lives.
class Profiling {
  public:
    Profiling(Executor& executor, bool after) : executor_(executor), after_(after) {
        executor.set_profiling(true);
    }
    ~Profiling() { executor_.set_profiling(after_); }
    Profiling(const Profiling&) = delete;
    Profiling& operator=(const Profiling&) = delete;

  private:
    Executor& executor_;
    bool after_;
};

}  // namespace firn
