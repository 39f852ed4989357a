// A session owns the state of recording and running: the node table, the executor and the caches.
#pragma once
#include <string>

#include "compiler/base/callback.h"
#include "compiler/program/device_profile.h"

namespace firn {

class Executor;
struct SessionState;

/// A handle of a session; copies are the same session. A tensor belongs to the session that was
/// current when it was made and keeps it alive; mixing tensors of two sessions is a UserError.
/// One thread at a time uses a session, its tensors and its functions: two at once, or one while
/// another records, is a UserError. Sessions of different threads run in parallel. Tensors and
/// functions may be destroyed on any thread.
/// A session on a device belongs to the process that made it: used in a child of fork() it is a
/// UserError. The child makes its own; if its parent had a device open, the child's exit() skips
/// the exit handlers of the parent.
///
/// Example: after `int last = 0;` `{ SessionScope scope(Session::interpreter());`
/// `last = (arange(4) * 10).to_vector<int>()[3]; }` `last` is `30`.
class Session {
  public:
    /// A session that runs its programs on `executor`.
    explicit Session(SharedPtr<Executor> executor);
    /// A session that evaluates graphs node by node on the host: slow, obvious, compiles nothing.
    static Session oracle();
    /// A session that runs compiled programs by the kernel interpreter: checks the compiler without
    /// a driver.
    static Session interpreter(DeviceProfile profile = cpu_profile());

    /// Returns the executor of its programs; chosen at the first use.
    Executor& executor() const;
    /// Limits and rates of the device that it compiles for.
    const DeviceProfile& profile() const;
    /// Returns whether a core of the device runs the subgroups of a group one after the other, so
    /// that an invocation can count over a long run of elements by itself; false for the oracle.
    bool runs_subgroups_serially() const;
    /// False for the oracle, which evaluates whole tensors, node by node.
    bool compiles() const;
    /// Sets the callback for the lines of print_value; without one they go to stdout.
    void on_print(Callback<void(const std::string&)> write) const;
    /// Sets whether programs recorded from now on verify the promises of `unique`, `permutation`
    /// and `unchecked`: a broken promise is a UserError with the line. Native code verifies each
    /// access of a kernel as well, in kernels by hand too: one outside its memory does not happen,
    /// and is a UserError where the program reads by `unchecked`, else an InternalError; arguments
    /// are as they were. Default: FIRN_CHECK. Costs time; the oracle always verifies.
    void check_promises(bool on) const;
    /// Sets whether floats that are computed from now on, by compiled functions too, are checked
    /// for nan. If one is nan, the oracle evaluates the graph again, and a UserError names the
    /// operation that made a nan from numbers: its line, the element, its operands there, the
    /// iteration of loops and the call of the function; variables that the call would have changed
    /// are as they were. Default: FIRN_FIND_NAN. Every result is read back and no argument is
    /// donated to calls, which costs time and memory.
    void find_nan(bool on) const;
    /// Sets how many iterations, at least 1, a while_ without max_steps may take before it is a
    /// UserError, for loops recorded from now on.
    void limit_while(int64_t iterations) const;
    /// Sets whether functions compile better programs for new sizes in the background, and run
    /// those that assume less until they are ready. Default: on for a device, off for interpreted
    /// programs. If it is off, a call compiles the program that fits it best.
    void compile_in_background(bool on) const;
    /// Sets whether compiled functions have programs of their own for recurring sizes, as fast as
    /// if they had been declared as numbers. Default: on, unless FIRN_SPECIALISE is 0. If it is
    /// off, few programs serve all sizes: they assume only divisors and upper bounds of them.
    void specialise(bool on) const;
    /// Programs kept for lazy evaluation, 256 at most: stays the same in a steady frame loop.
    size_t plan_count() const;
    /// Nodes alive in the node table, without those that only gradients of values without a handle
    /// would need.
    size_t node_count() const;

    /// @cond

    const SharedPtr<SessionState>& state() const { return state_; }
    explicit Session(SharedPtr<SessionState> state) : state_(std::move(state)) {}

    /// @endcond

  private:
    SharedPtr<SessionState> state_;
};

/// Returns the current session of this thread. The first use makes one: FIRN_EXECUTOR chooses its
/// executor, by default the device.
///
/// Example: after `SessionScope scope(Session::oracle());` `current_session().compiles()` is
/// `false`.
Session current_session();

/// Makes `session` current in this thread until the scope ends.
class SessionScope {
  public:
    /// Begins; the session that was current comes back where it is destroyed.
    explicit SessionScope(const Session& session);
    ~SessionScope();
    SessionScope(const SessionScope&) = delete;
    SessionScope& operator=(const SessionScope&) = delete;

  private:
    SharedPtr<SessionState> previous_;
};

/// @cond

/// Set once, by the facade that joins compiler and engine: makes the executor of default sessions.
/// Without one they run on the kernel interpreter.
using ExecutorFactory = SharedPtr<Executor> (*)();
void set_default_executor(ExecutorFactory factory);

/// @endcond

}  // namespace firn
