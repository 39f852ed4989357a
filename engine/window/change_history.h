// What a person changed of the parameters, and from where they looked, to be undone and done again.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/window/parameters.h"
#include "engine/window/placement.h"

namespace firn {

/// From where a person sees one of the views.
struct ViewPlace {
    DrawCamera camera;
    FlatZoom zoom;
    bool operator==(const ViewPlace&) const = default;
};
struct ViewMove {
    size_t view = 0;
    ViewPlace before, after;
};

class ChangeHistory {
  public:
    /// Puts a view somewhere.
    using Place = std::function<void(size_t view, const ViewPlace&)>;

    /// What differs from `before` is one step, with a view that moved; what was undone cannot be
    /// done again after it. Of parameters that are not in `names` nothing is taken, for the program
    /// changes some itself.
    void note(const Parameters& parameters, const ParameterValues& before,
              const std::vector<std::string>& names, const std::optional<ViewMove>& move = {});
    /// Gives the names of what it has changed; empty: there is no step.
    std::string undo(Parameters& parameters, const Place& place);
    std::string redo(Parameters& parameters, const Place& place);

  private:
    struct Step {
        ParameterValues before, after;
        std::optional<ViewMove> move;
    };
    /// Takes the newest step of `from` to `to`, and what it changed to what it was on that side.
    static std::string go(std::vector<Step>& from, std::vector<Step>& to,
                          ParameterValues Step::*values, ViewPlace ViewMove::*from_where,
                          Parameters& parameters, const Place& place);
    static std::string set_all(Parameters& parameters, const ParameterValues& values);

    std::vector<Step> done_, undone_;  // the newest last
};

}  // namespace firn
