// Loops and branches that are recorded: loop, while_, if_, break_ and continue_.
#pragma once
#include <optional>

#include "compiler/frontend/movement.h"
#include "compiler/program/callback.h"

namespace firn {

struct SessionState;

struct LoopOptions {
    [[no_unique_address]] ByName by_name = {};
    /// A gradient keeps what the loop carries of every so many iterations, and computes those
    /// between again; 1 keeps all. 0: all where they fit, else about every sqrt(iterations)-th, and
    /// where those do not, checkpoints between checkpoints.
    int64_t checkpoint = 0;
};

/// The range of a recorded loop. The C++ body runs once; what it assigns to tensors from outside
/// becomes the values that the loop carries.
class LoopRange {
  public:
    LoopRange(const Arg& begin, const Arg& end, const Arg& step, const LoopOptions& options);
    ~LoopRange();
    LoopRange(const LoopRange&) = delete;
    LoopRange& operator=(const LoopRange&) = delete;

    struct End {};
    class Turn {
      public:
        explicit Turn(LoopRange& range) : range_(range) {}
        Tensor operator*() const { return Tensor::from_node(range_.induction_); }
        Turn& operator++() {
            range_.close();
            return *this;
        }
        bool operator!=(End) const { return !range_.closed_; }

      private:
        LoopRange& range_;
    };
    Turn begin();
    End end() const { return {}; }

  private:
    void close();

    SharedPtr<SessionState> session_;
    SharedPtr<const Node> begin_, end_, step_, induction_;
    SourceLine line_;
    int64_t checkpoint_ = 0;
    uint64_t scope_ = 0;
    bool closed_ = false;
    int exceptions_ = 0;
};

/// `for (Tensor i : loop(n))`: i is an i32 from 0 to n - 1. Bounds are integers, sizes or rank-0
/// integer tensors. A tensor keeps its type through the loop; its shape grows to what the
/// iterations assign. A loop without iterations leaves every value as it was. Leave it early by
/// break_(), never by break or return.
inline LoopRange loop(const Arg& end, const LoopOptions& options = {}) {
    return LoopRange(Arg(0, end.line()), end, Arg(1, end.line()), options);
}
inline LoopRange loop(const Arg& begin, const Arg& end, const LoopOptions& options = {}) {
    return LoopRange(begin, end, Arg(1, end.line()), options);
}
/// Counts by `step`, down where it is negative.
inline LoopRange loop(const Arg& begin, const Arg& end, const Arg& step,
                      const LoopOptions& options = {}) {
    return LoopRange(begin, end, step, options);
}

/// Records both sides, one after the other. The condition is a bool. Where it has a shape it masks:
/// assigned values take the broadcast shape, and elements left out keep what neighbours still read.
void if_(const Arg& condition, const Callback<void()>& then,
         const Callback<void()>& otherwise = nullptr);

/// Ends the innermost loop for the elements whose conditions hold: their values stay as they are
/// from here on. The loop ends when no element is left.
void break_(SourceLine line = here());

/// Ends this iteration of the innermost loop for the elements whose conditions hold: what follows
/// in the body does not count for them.
void continue_(SourceLine line = here());

struct WhileOptions {
    /// The loop ends after so many iterations, whether or not its condition still holds. Without it
    /// a loop that goes on for more iterations than Session::limit_while or FIRN_MAX_STEPS allow
    /// (else 1,000,000) is a UserError, so that a mistake does not hang; the runtime then looks now
    /// and then whether it goes on, which a small max_steps spares. In a kernel by hand it may be
    /// fewer iterations, where the driver ends long loops (65,535 on lavapipe).
    std::optional<int64_t> max_steps = std::nullopt;
};
/// Runs `body` as long as `condition()` holds, which is asked before every iteration. A shaped
/// condition is asked element by element: an element for which it does not hold stays as it is, and
/// the loop ends when it holds for none. `while_([&] { return x > 1.0f; }, [&] { x *= 0.5f; });`
void while_(const Callback<Tensor()>& condition, const Callback<void()>& body,
            const WhileOptions& options = {}, SourceLine line = here());

}  // namespace firn
