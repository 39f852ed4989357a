// How far the scheduler's costs are bent: what tuning varies of the cuts.
#pragma once
#include <optional>
#include <string>

#include "compiler/program/device_profile.h"

namespace firn {

/// How much dearer than the profile says each thing is taken to be when cuts are chosen.
struct CutWeights {
    double load = 1, memory = 1, launch = 1;
    friend bool operator==(const CutWeights&, const CutWeights&) = default;
};

/// `load 0.25 memory 1 launch 4`.
std::string text(const CutWeights& weights);
/// Nothing where `words` is not what text() writes.
std::optional<CutWeights> parse_cut_weights(const std::string& words);

/// The profile that the scheduler is given.
DeviceProfile weighted(DeviceProfile profile, const CutWeights& weights);

}  // namespace firn
