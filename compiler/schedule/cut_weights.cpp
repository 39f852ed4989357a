// Scales of the scheduler's costs.
#include "compiler/schedule/cut_weights.h"

#include <sstream>

#include "compiler/target/cost_table.h"

namespace firn {

std::string text(const CutWeights& weights) {
    std::ostringstream out;
    out << "load " << weights.load << " memory " << weights.memory << " launch " << weights.launch;
    return out.str();
}

std::optional<CutWeights> parse_cut_weights(const std::string& words) {
    CutWeights out;
    std::istringstream in(words);
    auto field = [&](const char* name, double& value) {
        std::string key;
        return in >> key >> value && key == name && value >= 1 / costs::kMostWeight &&
               value <= costs::kMostWeight;
    };
    std::string more;
    if (!field("load", out.load) || !field("memory", out.memory) || !field("launch", out.launch) ||
        in >> more)
        return std::nullopt;
    return out;
}

DeviceProfile weighted(DeviceProfile profile, const CutWeights& weights) {
    profile.seconds_per_load *= weights.load;
    profile.bytes_per_second /= weights.memory;
    profile.seconds_per_launch *= weights.launch;
    return profile;
}

}  // namespace firn
