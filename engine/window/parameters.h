// The registry of named parameters: variables of a program that sliders, the command line and
// presets change.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace firn {

/// A choice is an index into a list of names.
struct ChoiceVariable {
    int* index = nullptr;
    std::vector<std::string> names;
};

/// One variable of the program that may be changed from outside. The registry does not own the
/// variable: it must outlive the registry, or be added again under the same name when it moves.
struct Parameter {
    std::string name;
    std::string help;
    std::variant<float*, int*, bool*, std::string*, ChoiceVariable> variable;
    double low = 0, high = 0;  // inclusive range of a float or int; low == high: any value
    bool logarithmic = false;  // a slider moves in powers
    double step = 0;  // above 0: of a pixel that the mouse is dragged, in place of a slider
};

class Parameters {
  public:
    /// Adds a parameter, or binds the existing one of that name to another variable of the same
    /// kind. A value that was set before the parameter was known is written to the variable now.
    /// Throws UserError for an empty name, another kind, or a pending value that does not fit.
    const Parameter& add(Parameter parameter);

    /// In the order in which they were added; addresses stay valid.
    const std::deque<Parameter>& all() const { return parameters_; }
    /// Null where there is none of that name.
    const Parameter* find(const std::string& name) const;

    /// Sets by name from text. Throws UserError that names the parameter, the text and the range.
    void set(const std::string& name, const std::string& text);
    /// Like set, for a parameter that may be added later: checked and written when it is.
    void set_when_added(const std::string& name, const std::string& text);
    /// Throws UserError naming a value that was set for a parameter nobody added, and those there
    /// are.
    void check_all_known() const;

    /// Writes the values that the variables had when they were added.
    void reset();

  private:
    std::deque<Parameter> parameters_;
    std::map<std::string, std::string> pending_;
    std::map<std::string, std::string> initial_;
};

/// The value as text that set() reads back to the same value.
std::string text_of(const Parameter& parameter);
/// Kind and range for a help page: `float in [0, 0.5]`, `one of dye, speed`.
std::string describe(const Parameter& parameter);

/// All values as a JSON object, in the order of the registry.
std::string preset_text(const Parameters& parameters);
/// Reads a JSON object of names and values; names that are not known yet wait: see set_when_added.
/// Throws UserError naming `origin` where the text is no JSON object or a value does not fit; then
/// no variable has been changed.
void apply_preset(Parameters& parameters, const std::string& text, const std::string& origin);

}  // namespace firn
