// The registry of named parameters: variables of a program that sliders, the command line and
// presets change.
#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace firn {

/// A choice is an index into a list of names.
struct ChoiceVariable {
    int* index = nullptr;
    std::vector<std::string> names;
};

/// Several numbers as one value: a vector, or a colour.
struct VectorVariable {
    float* values = nullptr;
    int count = 0;
};

/// The unit in which people see a value: an angle is in radians for the program and in degrees for
/// them.
enum class ParameterLook : uint8_t { Plain, Colour, Angle, File };

/// One variable of the program that may be changed from outside. Without an owner it must outlive
/// the registry, or be added again under the same name when it moves.
struct Parameter {
    static constexpr double kNone = std::numeric_limits<double>::infinity();
    std::string name;
    std::string help;
    std::variant<float*, int*, bool*, std::string*, ChoiceVariable, VectorVariable> variable;
    double low = -kNone, high = kNone;  // inclusive; low == high: any value
    bool logarithmic = false;           // a slider moves in powers
    double step = 0;  // above 0: change for each pixel that the mouse is dragged, without a slider
    double soft_low = 0, soft_high = 0;  // ends of the slider; equal: those of the range
    std::string unit, label, group;
    ParameterLook look = ParameterLook::Plain;
    std::shared_ptr<const void> owner;  // of the variable
    bool structural = false;            // a change of it compiles another program
    std::string state;                  // how far that is; empty: it is done
    bool touched = false;               // set from outside since the program last asked
};

/// Values as texts, by name.
using ParameterValues = std::map<std::string, std::string>;

class Parameters {
  public:
    /// Adds a parameter, or binds the existing one of that name to another variable of the same
    /// kind, unless both have owners that are alive. A value that was set before the parameter was
    /// known is written to the variable now.
    /// Throws UserError for an empty name, another kind, or a value that does not fit.
    const Parameter& add(Parameter parameter);

    /// Returns the parameters in the order in which they were added; addresses stay valid.
    const std::deque<Parameter>& all() const { return parameters_; }
    /// Returns null if there is no parameter of that name.
    const Parameter* find(const std::string& name) const;
    /// Returns true if it was set from outside since the last call.
    bool take_touched(const std::string& name);
    void touch(const std::string& name);
    /// Sets the step of a drag, see Parameter::step.
    void set_step(const std::string& name, double step);

    /// See Gui::set_structural.
    void set_structural(const std::string& name, const std::string& state);

    /// Sets by name from text. Throws UserError that names the parameter, the text and the range.
    void set(const std::string& name, const std::string& text);
    /// Like set, for a parameter that may be added later: checked and written when it is. `origin`
    /// is where the value is from, for messages.
    void set_when_added(const std::string& name, const std::string& text,
                        const std::string& origin = "");
    /// Throws UserError naming a value that was set for a parameter which was never added, and the
    /// parameters that exist.
    void check_all_known() const;

    ParameterValues values() const;
    /// Returns the value that the variable had when it was added.
    const std::string& initial(const std::string& name) const { return initial_.at(name); }
    /// Writes the values that the variables had when they were added.
    void reset();

  private:
    struct Pending {
        std::string text, origin;
    };
    Parameter* get(const std::string& name);

    std::deque<Parameter> parameters_;
    std::map<std::string, Pending> pending_;
    ParameterValues initial_;
};

/// Returns the value as text that set() reads back as the same value.
std::string text_of(const Parameter& parameter);
/// Returns kind and range for a help page: `a number in [0, 0.5]`, `one of dye, speed`.
std::string describe(const Parameter& parameter);

/// Returns all values as a preset of `program`: a JSON object with its version, the program's name,
/// and the values in the order of the registry.
std::string preset_text(const Parameters& parameters, const std::string& program);
/// Reads a preset, or a plain JSON object of names and values. Unknown names are refused or, with
/// `may_come_later`, wait: see set_when_added. Throws UserError naming `origin` if the text is no
/// preset, or one of another program or a later version, or if a value does not fit; then no
/// variable is changed.
void apply_preset(Parameters& parameters, const std::string& text, const std::string& origin,
                  const std::string& program, bool may_come_later = true);

/// Returns a shell command that starts `program` with the values that differ from those at the
/// start.
std::string command_line_of(const Parameters& parameters, const std::string& program);

}  // namespace firn
