// Compiled functions whose program depends on parameters, such as a number of layers or the choice
// of a formula.
#pragma once
#include <string>
#include <tuple>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/frontend/function.h"
#include "engine/firn/param.h"

namespace firn {

/// @cond
template <class Make, class Fn, class... T>
class StructuralCall;
/// @endcond

/// A compiled function that is recompiled when the values of its parameters change, see
/// structural().
template <class Make, class Layout, class... P, class... T>
class StructuralCall<Make, CompiledCall<Layout, TypeList<P...>>, T...> {
    using Fn = CompiledCall<Layout, TypeList<P...>>;
    using Values = std::tuple<typename Param<T>::Value...>;

  public:
    /// See structural().
    StructuralCall(Make make, const Param<T>&... params)
        : make_(std::move(make)), params_(params...) {
        tell("");
    }

    /// Runs the newest program that is ready.
    typename Results<Layout>::Type operator()(const ArgumentOf<P>&... args) {
        if (!made_ || recording_now()) {
            if (const Values now = values(); !made_ || now != asked_)
                current_ = std::apply(make_, now), asked_ = now, made_ = true;
            return current_(args...);
        }
        begin_next();
        if (!compiling_ || !next_.ready(args...)) return current_(args...);
        compiling_ = false;
        try {
            typename Results<Layout>::Type results = next_(args...);
            current_ = std::move(next_);
            tell("");
            return results;
        } catch (const UserError& error) {
            refuse(error);
        }
        return current_(args...);
    }

    /// The function that runs now.
    const Fn& current() const { return current_; }
    /// True while another one is being compiled.
    bool compiling() const { return compiling_; }
    /// Why there is no program for the newest values, while the last good one runs on; empty if
    /// there is one.
    const std::string& refused() const { return refused_; }

  private:
    Values values() const {
        return std::apply([](const auto&... each) { return Values(each.value()...); }, params_);
    }
    /// Compiles one program at a time; values that have changed again meanwhile are never compiled.
    void begin_next() {
        const Values now = values();
        if (compiling_ || now == asked_) return;
        asked_ = now;
        refused_.clear();
        try {
            next_ = std::apply(make_, now);
            compiling_ = true;
            tell("compiling ...");
        } catch (const UserError& error) {
            refuse(error);
        }
    }
    void refuse(const UserError& error) {
        refused_ = error.what();
        tell(refused_);
    }
    void tell(const std::string& state) {
        std::apply([&](auto&... each) { (each.set_structural(state), ...); }, params_);
    }

    Make make_;
    std::tuple<Param<T>...> params_;
    Values asked_{};
    Fn current_, next_;
    bool made_ = false, compiling_ = false;
    std::string refused_;
};

/// Makes a compiled function whose program depends on parameters: `make` takes their values and
/// returns the function compiled for them. A change costs no frame: the new program is compiled in
/// the background while the last good one runs, and takes over when it is ready. If it cannot be
/// made or compiled, the last good one stays, and the panel says why.
///
///     Param<int> radius{app, "radius", 3, {.min = 1, .max = 9}};
///     auto blur = structural(
///         [](int radius) {
///             return compile([=](Tensor x) { return blurred(x, radius); }, {f32("n", "m")});
///         },
///         radius);
///     picture = blur(picture);
///
/// Values that a compiled function takes as arguments do not need structural().
///
/// Example: `auto make = [](int r) { return compile([=](Tensor x) { return x / r; }, {f32("n")});
/// };` `auto divide = [=](const Param<int>& by) { return structural(make, by); };` (a Param belongs
/// to an App or a window).
template <class Make, class... T>
auto structural(Make make, const Param<T>&... params) {
    using Fn = std::invoke_result_t<Make&, const typename Param<T>::Value&...>;
    return StructuralCall<Make, Fn, T...>(std::move(make), params...);
}

}  // namespace firn
