// Users' actions while calls fail.
#pragma once
#include <functional>
#include <ostream>
#include <span>

#include "tests/faults/world.h"

namespace firn {

struct Scenario {
    const char* name;
    /// Makes its objects, and returns the function that is run with failures, and again without.
    std::function<std::function<void()>(World&)> begin;
    bool map_memory = true;
    int64_t stride_times = 1;
    friend std::ostream& operator<<(std::ostream& out, const Scenario& s) { return out << s.name; }
};

std::span<const Scenario> scenarios();

}  // namespace firn
