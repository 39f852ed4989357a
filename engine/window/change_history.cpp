// Undo and redo of parameters and views.
#include "engine/window/change_history.h"

#include <utility>

#include "engine/window/parameter_text.h"

namespace firn {
namespace {

constexpr size_t kMostSteps = 500;
constexpr const char* kView = "the view";

}  // namespace

void ChangeHistory::note(const Parameters& parameters, const ParameterValues& before,
                         const std::vector<std::string>& names,
                         const std::optional<ViewMove>& move) {
    Step step;
    for (const std::string& name : names) {
        const Parameter* parameter = parameters.find(name);
        const auto known = before.find(name);
        if (!parameter || known == before.end()) continue;
        if (const std::string now = text_of(*parameter); now != known->second)
            step.before[name] = known->second, step.after[name] = now;
    }
    if (move && move->before != move->after) step.move = move;
    if (step.before.empty() && !step.move) return;
    if (done_.size() == kMostSteps) done_.erase(done_.begin());
    done_.push_back(std::move(step));
    undone_.clear();
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
    if (step.move) place(step.move->view, step.move->before);
    return step.before.empty() ? kView : set_all(parameters, step.before);
}

std::string ChangeHistory::redo(Parameters& parameters, const Place& place) {
    if (undone_.empty()) return "";
    done_.push_back(std::move(undone_.back()));
    undone_.pop_back();
    const Step& step = done_.back();
    if (step.move) place(step.move->view, step.move->after);
    return step.after.empty() ? kView : set_all(parameters, step.after);
}

}  // namespace firn
