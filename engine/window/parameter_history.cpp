// Undo and redo of parameters.
#include "engine/window/parameter_history.h"

#include <utility>

#include "engine/window/parameter_text.h"

namespace firn {
namespace {

constexpr size_t kMostSteps = 500;

}  // namespace

void ParameterHistory::note(const Parameters& parameters, const ParameterValues& before,
                            const std::vector<std::string>& names) {
    Step step;
    for (const std::string& name : names) {
        const Parameter* parameter = parameters.find(name);
        const auto known = before.find(name);
        if (!parameter || known == before.end()) continue;
        if (const std::string now = text_of(*parameter); now != known->second)
            step.before[name] = known->second, step.after[name] = now;
    }
    if (step.before.empty()) return;
    if (done_.size() == kMostSteps) done_.erase(done_.begin());
    done_.push_back(std::move(step));
    undone_.clear();
}

std::string ParameterHistory::set_all(Parameters& parameters, const ParameterValues& values) {
    std::vector<std::string> names;
    for (const auto& [name, text] : values) {
        parameters.set(name, text);
        names.push_back(name);
    }
    return joined(names);
}

std::string ParameterHistory::undo(Parameters& parameters) {
    if (done_.empty()) return "";
    undone_.push_back(std::move(done_.back()));
    done_.pop_back();
    return set_all(parameters, undone_.back().before);
}

std::string ParameterHistory::redo(Parameters& parameters) {
    if (undone_.empty()) return "";
    done_.push_back(std::move(undone_.back()));
    undone_.pop_back();
    return set_all(parameters, done_.back().after);
}

}  // namespace firn
