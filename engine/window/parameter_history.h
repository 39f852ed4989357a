// What a person changed of the parameters, to be undone and done again.
#pragma once
#include <string>
#include <vector>

#include "engine/window/parameters.h"

namespace firn {

class ParameterHistory {
  public:
    /// What differs from `before` is one step; what was undone cannot be done again after it. Of
    /// parameters that are not in `names` nothing is taken, for the program changes some itself.
    void note(const Parameters& parameters, const ParameterValues& before,
              const std::vector<std::string>& names);
    /// Gives the names of what it has changed; empty: there is no step.
    std::string undo(Parameters& parameters);
    std::string redo(Parameters& parameters);

  private:
    struct Step {
        ParameterValues before, after;
    };
    static std::string set_all(Parameters& parameters, const ParameterValues& values);

    std::vector<Step> done_, undone_;  // the newest last
};

}  // namespace firn
