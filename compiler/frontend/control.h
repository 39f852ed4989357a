// Loops and branches that are recorded: loop, while_, if_, break_ and continue_.
#pragma once
#include <optional>

#include "compiler/base/callback.h"
#include "compiler/frontend/movement.h"

namespace firn {

struct SessionState;

/// The checkpoints that a gradient keeps of a recorded loop.
struct LoopOptions {
    [[no_unique_address]] ByName by_name = {};
    /// A gradient keeps the carried values of every so many iterations, and recomputes those
    /// between; 1 keeps all. 0: all if they fit, else about every sqrt(iterations)-th, and if those
    /// do not fit, checkpoints between checkpoints.
    int64_t checkpoint = 0;
};

/// The range of a recorded loop, as loop() returns it. The C++ body runs once; its assignments to
/// tensors from outside become the values that the loop carries.
class LoopRange {
  public:
    /// @cond

    LoopRange(const Arg& begin, const Arg& end, const Arg& step, const LoopOptions& options);
    ~LoopRange();
    LoopRange(const LoopRange&) = delete;
    LoopRange& operator=(const LoopRange&) = delete;

    struct End {};
    class Iteration {
      public:
        explicit Iteration(LoopRange& range) : range_(range) {}
        Tensor operator*() const { return Tensor::from_node(range_.index_); }
        Iteration& operator++() {
            range_.close();
            return *this;
        }
        bool operator!=(End) const { return !range_.closed_; }

      private:
        LoopRange& range_;
    };
    Iteration begin();
    End end() const { return {}; }

    /// @endcond

  private:
    void close();
    void count_by_invocation();

    SharedPtr<SessionState> session_;
    /// The bounds of the recorded loop, its counter, and the index that the body sees.
    SharedPtr<const Node> begin_, end_, step_, induction_, index_;
    /// True while an invocation has another iteration; null if the trip count is known.
    SharedPtr<Slot> active_;
    SourceLine line_;
    int64_t checkpoint_ = 0;
    uint64_t scope_ = 0;
    bool closed_ = false;
    int exceptions_ = 0;
};

/// `for (Tensor i : loop(n))`: i is an i32 from 0 to n - 1. Bounds are integers, sizes or rank-0
/// integer tensors. A tensor keeps its type through the loop; its shape grows to that of the values
/// assigned. A loop without iterations leaves every value as it was. Leave it early by break_(),
/// never by break or return.
///
/// Inside a kernel by hand a bound may differ between invocations, as for the rows of a sparse
/// matrix: each has its own trip count. Elsewhere a bound with a shape is a UserError. If the trip
/// count has no known maximum, the call waits for the device and throws UserError if the driver's
/// limit (65,535 on lavapipe) ended the loop; `loop(start(k), min(start(k + 1), start(k) + 100))`
/// has a maximum, and gradients of all kinds.
///
/// `loop(begin, end)` goes from begin to end - 1.
///
/// Examples: after `Tensor x = 1;` `for (Tensor i : loop(5)) x *= 2;` `x` is `32`; a sum that takes
/// the shape of its terms, after `Tensor s = 0;`
/// `for (Tensor i : loop(1, 4)) s += i * arange(3);` `s` is `{0, 6, 12}`; rows of a sparse matrix,
/// after `Tensor start = tensor({0, 2, 2, 5}), v = tensor({1, 2, 3, 4, 5}), rows = zeros({3},
/// i32);` `kernel({3}, [&](Tensor k) { Tensor s = 0;` `for (Tensor e : loop(start(k), start(k +
/// 1))) s += v(e); rows(k) = s; });` `rows` is
/// `{3, 0, 12}`.
/// @{
inline LoopRange loop(const Arg& end, const LoopOptions& options = {}) {
    return LoopRange(Arg(0, end.line()), end, Arg(1, end.line()), options);
}
inline LoopRange loop(const Arg& begin, const Arg& end, const LoopOptions& options = {}) {
    return LoopRange(begin, end, Arg(1, end.line()), options);
}
/// @}

/// Counts by `step`, down where it is negative; `end` itself is left out.
///
/// Example: after `Tensor digits = 0;` `for (Tensor i : loop(3, 0, -1)) digits = 10 * digits + i;`
/// `digits` is `321`.
inline LoopRange loop(const Arg& begin, const Arg& end, const Arg& step,
                      const LoopOptions& options = {}) {
    return LoopRange(begin, end, step, options);
}

/// Records both sides, one after the other. The condition is a bool, else UserError. A condition
/// with a shape masks: assigned values take the broadcast shape, and elements left out keep the old
/// value, which neighbours still read. With a mask the second side sees the first side's
/// assignments, in other elements too.
///
/// Examples: after `Tensor x = tensor({-1.0f, 2.0f}), y = x;`
/// `if_(x < 0.0f, [&] { y = -x; }, [&] { y = 10.0f * x; });` `y` is `{1, 20}`; one side after the
/// other, after `Tensor z = tensor({1, 2});`
/// `if_(z == 1, [&] { z *= 10; }, [&] { z = z(0) + 1; });` `z` is `{10, 11}`.
void if_(const Arg& condition, const Callback<void()>& then,
         const Callback<void()>& otherwise = nullptr);

/// Ends the innermost loop for the elements whose conditions hold: their values stay as they are
/// from here on. The loop ends when no element is left. UserError outside of recorded loops.
///
/// Example: after `Tensor x = tensor({1, 50});`
/// `for (Tensor k : loop(10)) { if_(x > 100, [&] { break_(); }); x *= 2; }` `x` is `{128, 200}`.
void break_(SourceLine line = here());

/// Ends this iteration of the innermost loop for the elements whose conditions hold: the remaining
/// statements of the body do not count for them. UserError outside of recorded loops.
///
/// Example: after `Tensor odd = 0;`
/// `for (Tensor i : loop(6)) { if_(i % 2 == 0, [&] { continue_(); }); odd += i; }` `odd` is `9`.
void continue_(SourceLine line = here());

/// The iteration limit of a while_.
struct WhileOptions {
    /// The loop ends after so many iterations, whether or not its condition still holds. Without it
    /// a loop that goes on for more iterations than Session::limit_while or FIRN_MAX_STEPS allow
    /// (else 1,000,000) is a UserError, so that a mistake does not hang; the runtime then reads
    /// from time to time whether it goes on, which a small max_steps avoids. In a kernel by hand
    /// the limit may be lower, because some drivers end long loops (65,535 on lavapipe).
    std::optional<int64_t> max_steps = std::nullopt;
};
/// Runs `body` as long as `condition()` holds, which is evaluated before every iteration. A shaped
/// condition holds element by element: an element for which it does not hold keeps its value, and
/// the loop ends when it holds for none.
///
/// Examples: after `Tensor x = tensor({10.0f, 3.0f}), y = x;`
/// `while_([&] { return x > 1.0f; }, [&] { x *= 0.5f; });` `x` is `{0.625, 0.75}`; after
/// `while_([&] { return y > 1.0f; }, [&] { y *= 0.5f; }, {.max_steps = 2});` `y` is `{2.5, 0.75}`.
void while_(const Callback<Tensor()>& condition, const Callback<void()>& body,
            const WhileOptions& options = {}, SourceLine line = here());

}  // namespace firn
