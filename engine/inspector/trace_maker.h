// TraceMaker: makes the trace of a program (its text after every pass) in the background.
#pragma once
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "compiler/program/compile_trace.h"
#include "compiler/program/program.h"

namespace firn {

/// Keeps the trace of one program at a time. The destructor waits for the one that is being made.
class TraceMaker {
  public:
    using Make = std::function<CompileTrace(const Program&)>;
    /// `make` is called on a separate thread.
    explicit TraceMaker(Make make) : make_(std::move(make)) {}

    /// Returns the trace; null while it is being made, and if it cannot be made.
    const CompileTrace* trace(const std::shared_ptr<const Program>& program);
    /// Why it cannot be made; empty: it can.
    const std::string& refused() const { return made_.refused; }

  private:
    struct Made {
        std::optional<CompileTrace> trace;
        std::string refused;
    };
    Make make_;
    std::shared_ptr<const Program> program_;
    Made made_;
    std::future<Made> making_;
};

}  // namespace firn
