// Undo and redo of parameters and views.
#include "engine/window/change_history.h"

#include <utility>

#include "engine/window/parameter_text.h"

namespace firn {
namespace {

constexpr size_t kMostSteps = 500;
constexpr const char* kView = "the view";

}  // namespace

void ChangeHistory::add(Step step) {
    if (done_.size() == kMostSteps) done_.erase(done_.begin());
    done_.push_back(std::move(step));
    undone_.clear();
}

void ChangeHistory::note(const Parameters& parameters, const ParameterValues& before,
                         const std::vector<std::string>& names) {
    Step step;
    for (const std::string& name : names) {
        const Parameter* parameter = parameters.find(name);
        const auto known = before.find(name);
        if (!parameter || known == before.end()) continue;
        if (const std::string now = text_of(*parameter); now != known->second)
            step.before[name] = known->second, step.after[name] = now;
    }
    if (!step.before.empty()) add(std::move(step));
}

void ChangeHistory::note(const ViewMove& move) {
    if (move.before != move.after) add({{}, {}, move});
}

std::string ChangeHistory::set_all(Parameters& parameters, const ParameterValues& values) {
    std::vector<std::string> names;
    for (const auto& [name, text] : values) {
        parameters.set(name, text);
        names.push_back(name);
    }
    return joined(names);
}

std::string ChangeHistory::undo(Parameters& parameters, const Place& place) {
    if (done_.empty()) return "";
    undone_.push_back(std::move(done_.back()));
    done_.pop_back();
    const Step& step = undone_.back();
    if (!step.move) return set_all(parameters, step.before);
    place(step.move->view, step.move->before);
    return kView;
}

std::string ChangeHistory::redo(Parameters& parameters, const Place& place) {
    if (undone_.empty()) return "";
    done_.push_back(std::move(undone_.back()));
    undone_.pop_back();
    const Step& step = done_.back();
    if (!step.move) return set_all(parameters, step.after);
    place(step.move->view, step.move->after);
    return kView;
}

}  // namespace firn
