// Undo and redo of parameters and views.
#include "engine/window/change_history.h"

#include <utility>

#include "engine/parameters/parameter_text.h"

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

std::string ChangeHistory::go(std::vector<Step>& from, std::vector<Step>& to,
                              ParameterValues Step::*values, ViewPlace ViewMove::*from_where,
                              Parameters& parameters, const Place& place) {
    if (from.empty()) return "";
    to.push_back(std::move(from.back()));
    from.pop_back();
    const Step& step = to.back();
    if (step.move) place(step.move->view, (*step.move).*from_where);
    return (step.*values).empty() ? kView : set_all(parameters, step.*values);
}

std::string ChangeHistory::undo(Parameters& parameters, const Place& place) {
    return go(done_, undone_, &Step::before, &ViewMove::before, parameters, place);
}

std::string ChangeHistory::redo(Parameters& parameters, const Place& place) {
    return go(undone_, done_, &Step::after, &ViewMove::after, parameters, place);
}

}  // namespace firn
