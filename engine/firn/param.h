// Param: a value of the program that the panel, the command line and presets can change.
#pragma once
#include <array>
#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/frontend/vec.h"
#include "engine/firn/app.h"

namespace firn {

/// A choice from a list of names; its value is an index.
struct OneOf;
/// The name of a file that is there, or nothing.
struct File;
/// Radians; degrees in the panel, on the command line and in presets.
struct Angle;
/// Red, green and blue as they are shown, from 0 to 1.
struct Colour;
/// Something that is pressed, and has no value.
struct Button;

namespace detail {

template <class T, class V, ParamVariable::Kind K, int N = 1>
struct ParamOf {
    using Value = V;
    using Stored = V;
    static constexpr ParamVariable::Kind kKind = K;
    static constexpr int kCount = N;
    static constexpr bool kChosen = K == ParamVariable::Kind::Choice;
};
using Kind = ParamVariable::Kind;

template <class T>
struct ParamKind;
template <>
struct ParamKind<float> : ParamOf<float, float, Kind::Float> {};
template <>
struct ParamKind<int> : ParamOf<int, int, Kind::Int> {};
template <>
struct ParamKind<bool> : ParamOf<bool, bool, Kind::Bool> {};
template <>
struct ParamKind<Angle> : ParamOf<Angle, float, Kind::Angle> {};
template <>
struct ParamKind<std::string> : ParamOf<std::string, std::string, Kind::Text> {};
template <>
struct ParamKind<File> : ParamOf<File, std::string, Kind::File> {};
template <>
struct ParamKind<OneOf> : ParamOf<OneOf, int, Kind::Choice> {};
template <>
struct ParamKind<Colour> : ParamOf<Colour, std::array<float, 3>, Kind::Colour, 3> {};
template <size_t N>
struct ParamKind<Vec<N>> : ParamOf<Vec<N>, std::array<float, N>, Kind::Vector, int(N)> {};
template <class T>
requires std::is_enum_v<T>
struct ParamKind<T> : ParamOf<T, T, Kind::Choice> {
    using Stored = int;
};

inline Gui& panel_of(App& app) { return app.gui(); }
inline Gui& panel_of(ViewWindow& window) { return window.gui(); }
inline Gui& panel_of(Gui& gui) { return gui; }

}  // namespace detail

/// A parameter of an App, or of a window's panel. It converts to its present value, also as an
/// argument of compiled functions; a change compiles nothing.
///
///     Param<float> dt{app, "dt", 0.4f, {.min = 0, .max = 0.5, .unit = "s", .help = "time step"}};
///     Param<View> view{app, "view", View::Dye, {"dye", "speed"}, {.group = "Picture"}};
///     if (view == View::Dye) u = step(u, dt);
///
/// T is float, int, bool, std::string, vec2, vec3, vec4, an enum whose values count from 0, OneOf,
/// File, Angle, Colour, or Button. Copies are the same parameter; it lives as long as one of them.
/// Throws UserError for a name that is there already and a value outside of its own limits.
///
/// Example: after `Gui panel; Param<float> dt{panel, "dt", 0.1f, {.min = 0, .max = 0.5}};`
/// `dt = 2.0f;` `dt.value()` is `0.5`, `2.0f * dt + zeros({2})` is `{1, 1}`.
template <class T>
class Param {
    using Of = detail::ParamKind<T>;
    using Stored = typename Of::Stored;

  public:
    using Value = typename Of::Value;

    /// Adds a line to the panel of `owner`, an App, a Window or a Gui. `value` is the first value.
    template <class Owner>
    Param(Owner& owner, const std::string& name, Value value,
          const ParamOptions& options = {}) requires(!Of::kChosen)
        : Param(detail::panel_of(owner), name, std::move(value), {}, options, 0) {}
    /// The same for one of several values; `names` are theirs, from value 0.
    template <class Owner>
    Param(Owner& owner, const std::string& name, Value value, const std::vector<std::string>& names,
          const ParamOptions& options = {}) requires(Of::kChosen)
        : Param(detail::panel_of(owner), name, std::move(value), names, options, 0) {}

    /// The present value.
    /// @{
    Value value() const { return Value(*value_); }
    operator Value() const { return value(); }
    /// @}

    /// The present value of a number, as an operand beside tensors.
    Value number() const requires std::is_arithmetic_v<Value> { return value(); }
    /// Components as tensors.
    /// @{
    operator vec2() const requires(Of::kCount == 2) { return as_vec<2>(); }
    operator vec3() const requires(Of::kCount == 3) { return as_vec<3>(); }
    operator vec4() const requires(Of::kCount == 4) { return as_vec<4>(); }
    /// @}

    /// An argument of a compiled function that takes a vector.
    /// @{
    operator StructArgument<vec2>() const requires(Of::kCount == 2) { return as_vec<2>(); }
    operator StructArgument<vec3>() const requires(Of::kCount == 3) { return as_vec<3>(); }
    operator StructArgument<vec4>() const requires(Of::kCount == 4) { return as_vec<4>(); }
    /// @}

    /// Returns a component.
    float operator[](size_t k) const requires(Of::kCount > 1) { return (*value_)[k]; }

    /// Sets the value. A number outside of the limits (each component of a vector) is clamped to
    /// them.
    Param& operator=(const Value& value) {
        *value_ = Stored(value);
        if constexpr (Of::kCount > 1)
            for (float& component : *value_) component = within_limits(component);
        else if constexpr (std::is_same_v<Value, float> || std::is_same_v<Value, int>)
            *value_ = within_limits(*value_);
        return *this;
    }
    /// Changes the value by so much, and clamps it as an assignment does.
    /// @{
    Param& operator+=(Value value) requires std::is_arithmetic_v<Value> {
        return *this = *value_ + value;
    }
    Param& operator-=(Value value) requires std::is_arithmetic_v<Value> {
        return *this = *value_ - value;
    }
    /// @}

    /// True when it was set from outside since the last time this was asked: by the person, a
    /// preset, or the command line.
    bool changed() { return gui_.changed(name_); }
    /// ParamOptions::step, which may change from frame to frame.
    void set_step(float step) { gui_.set_step(name_, step); }
    /// See Gui::set_structural.
    void set_structural(const std::string& state) { gui_.set_structural(name_, state); }
    /// The name that the constructor was given.
    const std::string& name() const { return name_; }
    /// The panel that it is a line of.
    const Gui& panel() const { return gui_; }

  private:
    Param(Gui& gui, const std::string& name, Value value, const std::vector<std::string>& names,
          const ParamOptions& options, int)
        : gui_(gui),
          name_(name),
          value_(new Stored(static_cast<Stored>(std::move(value)))),
          owner_(static_cast<void*>(value_), [](void* kept) { delete static_cast<Stored*>(kept); }),
          low_(options.min.value_or(-1e300)),
          high_(options.max.value_or(1e300)) {
        void* data = value_;
        if constexpr (Of::kCount > 1) data = value_->data();
        gui_.bind(name, {Of::kKind, data, Of::kCount, names, owner_}, options);
    }
    template <class Number>
    Number within_limits(Number x) const {
        return double(x) < low_ ? Number(low_) : double(x) > high_ ? Number(high_) : x;
    }
    template <size_t N>
    Vec<N> as_vec() const {
        Vec<N> out;
        for (size_t k = 0; k < N; ++k) out[k] = Tensor((*value_)[k]);
        return out;
    }

    Gui gui_;
    std::string name_;
    Stored* value_;
    SharedPtr<void> owner_;
    double low_, high_;
};

/// A button of the panel.
///
///     Param<Button> splash{app, "splash", {.help = "a drop in the middle"}};
///     if (splash.pressed()) u = u + drop;
template <>
class Param<Button> {
  public:
    /// Adds a button to the panel of `owner`, an App, a Window or a Gui. It uses the options label,
    /// group and help.
    template <class Owner>
    Param(Owner& owner, const std::string& name, const ParamOptions& options = {})
        : gui_(detail::panel_of(owner)), name_(name), options_(options) {
        gui_.button(name_, options_);
    }
    /// True once for every press.
    bool pressed() { return gui_.button(name_, options_); }

  private:
    Gui gui_;
    std::string name_;
    ParamOptions options_;
};

}  // namespace firn
