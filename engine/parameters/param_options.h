// Options that a program gives a parameter when it makes it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/shared_ptr.h"

namespace firn {

/// Options of a parameter, all of which may be left out.
struct ParamOptions {
    /// The accepted values, ends included: others are refused. For vectors and colours they hold
    /// for each component; for angles they are in radians.
    std::optional<double> min, max;
    /// The ends of the slider, if they are closer; a value beyond them can be typed.
    std::optional<double> soft_min, soft_max;
    bool log = false;  // the slider moves in powers
    float step = 0;    // above 0: change for each pixel that the mouse is dragged, without a slider
    std::string unit;  // beside the number
    std::string label;  // of its line, instead of its name
    std::string group;  // lines of one group fold together
    std::string help;   // shown when the mouse rests on it, and by --help
};

/// The variable behind a parameter, and how people see it. If `owner` is given, it keeps the
/// variable's owner alive.
struct ParamVariable {
    enum class Kind : uint8_t { Float, Int, Bool, Text, File, Choice, Vector, Colour, Angle };
    Kind kind = Kind::Float;
    void* value = nullptr;           // float*, int* (Choice too), bool*, std::string*
    int count = 1;                   // components of a vector or colour
    std::vector<std::string> names;  // of a choice
    SharedPtr<void> owner = {};
};

}  // namespace firn
