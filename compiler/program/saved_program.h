// Compiled programs in files, with the parameters that feed them: firn_runtime runs them without
// the compiler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/program.h"

namespace firn {

/// A value that a user changes while the program runs, and the scalar arguments that it feeds.
struct ProgramParameter {
    enum class Kind : uint8_t { Float, Int, Bool, Choice, Vector, Colour, Angle };
    std::string name;
    Kind kind = Kind::Float;
    /// Scalar arguments of the program. One for every component, in order; where there are more,
    /// the same components again.
    std::vector<int> arguments;
    /// The value when the program was saved: a number for every component, the index of a choice, 0
    /// or 1, radians, red, green and blue from 0 to 1.
    std::vector<double> value;
    std::optional<double> min, max;  // the accepted range, ends included, for each component
    std::optional<double> soft_min, soft_max;  // the ends of its slider
    bool log = false;                          // the slider moves in powers
    float step = 0;  // above 0: of a pixel that the mouse is dragged, in place of a slider
    std::string unit, label, group, help;
    std::vector<std::string> names;  // of a choice
};

/// The same program, compiled for other devices or for certain sizes.
struct SavedVariant {
    SymbolFacts facts;  // of the sizes of the calls that it serves
    std::shared_ptr<const Program> program;
    /// Its constants that are constants of SavedProgram::program too, as pairs of the buffer here
    /// and the buffer there. Only files have them, which hold the data once.
    std::vector<std::pair<int, int>> same_constants = {};
};

/// A program and all that it takes to run it.
struct SavedProgram {
    std::string name;  // by which presets of its parameters know it
    /// Serves every size that it was written for, on the first of its devices.
    std::shared_ptr<const Program> program;
    /// Those for certain sizes, and those for other devices: see program_for (make_call.h).
    std::vector<SavedVariant> variants = {};
    std::vector<ProgramParameter> parameters;
    // The call that it was saved with, one entry per argument of the program:
    std::vector<Scalar> scalars;               // its values; 0 where the argument is a tensor
    std::vector<std::vector<int64_t>> shapes;  // of its tensors; empty where it is a scalar
    /// Names of the results of the program, by which hosts tell them apart; empty where they have
    /// none.
    std::vector<std::string> result_names = {};
};

/// Writes a file that holds all of it except for parts that only a compiler can use
/// (Program::source and the code of kernels before their target). A reader of such a file sees
/// either all of it or the file that was there before. Throws UserError if it cannot be written, or
/// if the program cannot run from a file because it has no built kernels.
void write_program(const std::string& path, const SavedProgram& saved);

/// Reads a file of write_program. Throws UserError that names the file if it is damaged, no file of
/// ours, of another version of the format, or if anything in it does not fit together. Checks the
/// requirements that kernels state, but not what they do: a file needs as much trust as a program.
SavedProgram read_program(const std::string& path);

/// Gives or takes the same bytes in memory, for a caller that keeps them in its own archive.
/// `origin` names them in messages.
std::vector<std::byte> program_bytes(const SavedProgram& saved);
SavedProgram program_from_bytes(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace firn
