// The interface through which compiled programs run: the interpreter is one executor, the engine
// another.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/compile_progress.h"
#include "compiler/program/kernel_time.h"
#include "compiler/program/program.h"

namespace firn {

/// Memory of an executor; freed when the last owner lets go (the engine waits for the device
/// itself).
class Memory {
  public:
    virtual ~Memory() = default;
    virtual uint64_t bytes() const = 0;
};

/// The values of one call. Index k of every vector belongs to argument k (or result k); a scalar
/// argument has no memory, a tensor argument no scalar. A null result memory lets the caller skip
/// it.
struct Call {
    SizeEnv symbols;                                 // from bind_symbols
    std::vector<Scalar> scalars;                     // one per argument; ignored for tensors
    std::vector<std::shared_ptr<Memory>> arguments;  // one per argument; null for scalars
    std::vector<std::shared_ptr<Memory>> results;    // one per result
};

/// The progress of a long run.
struct RunProgress {
    std::string program, line;  // the user's line of the outermost loop that is under way
    int64_t iteration = 0, iterations = 0;  // its iterations so far, and all; 0: depends on data
    double seconds = 0;                     // since the run began
};

class Executor {
  public:
    virtual ~Executor() = default;
    virtual const DeviceProfile& profile() const = 0;
    /// Allocates uninitialised memory. Throws DeviceError that says how much was requested, held
    /// and free.
    virtual std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) = 0;
    virtual void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) = 0;
    /// Waits until everything run so far has written it.
    virtual void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) = 0;
    /// The bytes of memory that the host sees as the device does, when everything run so far has
    /// written them; null where the device has memory of its own.
    virtual const std::byte* mapped(const Memory&) { return nullptr; }
    /// The same for the host to write, when nothing that runs uses them any more.
    virtual std::byte* map_for_writing(Memory&) { return nullptr; }
    /// Runs in program order with everything else of this executor; may return before it is done.
    virtual void run(const std::shared_ptr<const Program>& program, const Call& call) = 0;
    /// Returns whether it reads the code of kernels before their target, which programs from disk
    /// lack.
    virtual bool needs_kernel_code() const { return true; }
    /// Returns why it cannot run a program from a file, such as one for other devices; empty: it
    /// can.
    virtual std::string why_cannot_run(const Program&) const {
        return needs_kernel_code() ? "it runs the code of kernels before their target, which no "
                                     "file holds"
                                   : "";
    }
    /// Prepares for a program's first run, such as by making pipelines; callable from any thread.
    /// The program starts at once as long as the returned pointer is held.
    virtual std::shared_ptr<const void> prepare(const Program&) { return nullptr; }
    /// Waits for everything.
    virtual void wait() = 0;
    /// Why it cannot be used in this process, a child that fork() made; empty: it can be.
    virtual std::string why_not_here() const { return ""; }
    /// `report` is told how far a run is that has taken `after_seconds`, and whenever that time has
    /// doubled.
    virtual void set_progress(std::function<void(const RunProgress&)> /*report*/,
                              double /*after_seconds*/) {}
    /// `watch` is told how far a compile is that a call waits for, 30 times a second and by the
    /// thread of that call, which may do something else meanwhile, but for compiling.
    void on_compile(CompileWatch watch) { compile_watch_ = std::move(watch); }
    const CompileWatch& compile_watch() const { return compile_watch_; }
    /// Returns the per-kernel times of all runs since the last call; empty if profiling is off.
    virtual void set_profiling(bool) {}
    virtual std::vector<KernelTime> take_kernel_times() { return {}; }

  private:
    CompileWatch compile_watch_;
};

}  // namespace firn
