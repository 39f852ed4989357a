// Scales of the scheduler's costs, which tuning varies to find other cuts.
#pragma once
#include <optional>
#include <string>

#include "compiler/program/device_profile.h"

namespace firn {

/// Factors by which the profile's costs are multiplied when cuts are chosen.
struct CutWeights {
    double load = 1, memory = 1, launch = 1;
    friend bool operator==(const CutWeights&, const CutWeights&) = default;
};

/// Returns the weights as `load 0.25 memory 1 launch 4`.
std::string text(const CutWeights& weights);
/// Returns the weights that text() wrote; nothing if `words` is anything else.
std::optional<CutWeights> parse_cut_weights(const std::string& words);

/// Returns the profile with scaled costs, for the scheduler.
DeviceProfile weighted(DeviceProfile profile, const CutWeights& weights);

}  // namespace firn
