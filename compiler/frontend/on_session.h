// Functions that run in another session, as steps of the programs of this one.
#pragma once
#include <utility>

#include "compiler/base/callback.h"
#include "compiler/frontend/session.h"
#include "compiler/frontend/tensor.h"

namespace firn {

/// A function of another session, as on() gives it; copies share its programs.
class OnSession {
  public:
    /// See on().
    OnSession(const Session& session, Callback<Tensor(const Tensor&)> fn, SourceLine line);
    /// What the function makes of x there, as a tensor of the current session.
    Tensor operator()(const Operand& x) const;

  private:
    struct State;
    SharedPtr<State> state_;
};

/// `fn`, a function of one tensor that gives one, as an operation of the current session that runs
/// in `session`: its input is copied there, and its output back. Inside `compile` that is a step of
/// the program, and `explain` shows it as `on('device')`: it begins when its input is there, on a
/// Vulkan device the kernels of this session that do not need it run meanwhile, and the first that
/// does waits. `fn` may be a lambda or a compiled function; it is recorded in `session` for each
/// type and rank of x, and tensors that it captures must be of that session. In its own session it
/// is `fn` itself.
///
/// A gradient runs there too, if the output has the shape of the input; else, and for the gradient
/// of a gradient, it is a UserError. So are an output of another type than the input, sizes that
/// only the device knows, and vmap over it.
///
/// Example: after `auto twice = on(Session::oracle(), [](Tensor x) { return x * 2; });`
/// `auto f = compile([&](Tensor x) { return twice(x + 1) - x; }, {i32("n")});`
/// `f(tensor({1, 5}))` is `{3, 7}`.
template <class Fn>
requires std::is_invocable_r_v<Tensor, Fn&, const Tensor&> OnSession on(const Session& session,
                                                                        Fn fn,
                                                                        SourceLine line = here()) {
    return OnSession(session, std::move(fn), line);
}

}  // namespace firn
