// What a program says of a parameter when it makes it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/program/shared_ptr.h"

namespace firn {

/// Everything may be left out.
struct ParamOptions {
    /// What it takes, ends included: other values are refused. Of vectors and colours each
    /// component; of angles radians.
    std::optional<double> min, max;
    /// The ends of its slider, where they are nearer than that; a value beyond can be typed.
    std::optional<double> soft_min, soft_max;
    bool log = false;   // the slider moves in powers
    float step = 0;     // above 0: of a pixel that the mouse is dragged, in place of a slider
    std::string unit;   // beside the number
    std::string label;  // of its line, in place of its name
    std::string group;  // lines of one group fold together
    std::string help;   // shown when the mouse rests on it, and by --help
};

/// The variable behind a parameter, and what it is to people. Who owns it is kept alive by `owner`,
/// where that is given.
struct ParamVariable {
    enum class Kind : uint8_t { Float, Int, Bool, Text, File, Choice, Vector, Colour, Angle };
    Kind kind = Kind::Float;
    void* value = nullptr;           // float*, int* (Choice too), bool*, std::string*
    int count = 1;                   // components of a vector or colour
    std::vector<std::string> names;  // of a choice
    SharedPtr<void> owner = {};
};

}  // namespace firn
