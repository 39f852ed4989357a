// Undo and redo of the changes that a person made to parameters and views.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/parameters/parameters.h"
#include "engine/window/placement.h"

namespace firn {

/// The camera and the zoom with which a person sees one of the views.
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
    /// Gives a view a camera and a zoom.
    using Place = std::function<void(size_t view, const ViewPlace&)>;

    /// Notes what differs from `before`, and a view that moved, as one step; what was undone cannot
    /// be redone after it. Only parameters in `names` are compared, since the program changes some
    /// itself.
    void note(const Parameters& parameters, const ParameterValues& before,
              const std::vector<std::string>& names, const std::optional<ViewMove>& move = {});
    /// Undoes or redoes a step, and returns the names of what it changed; empty: there is no step.
    std::string undo(Parameters& parameters, const Place& place);
    std::string redo(Parameters& parameters, const Place& place);

  private:
    struct Step {
        ParameterValues before, after;
        std::optional<ViewMove> move;
    };
    /// Moves the newest step from `from` to `to`, and sets what it changed to its state on that
    /// side.
    static std::string go(std::vector<Step>& from, std::vector<Step>& to,
                          ParameterValues Step::*values, ViewPlace ViewMove::*from_where,
                          Parameters& parameters, const Place& place);
    static std::string set_all(Parameters& parameters, const ParameterValues& values);

    std::vector<Step> done_, undone_;  // the newest last
};

}  // namespace firn
