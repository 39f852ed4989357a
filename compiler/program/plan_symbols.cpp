// The symbols that decide how a program runs.
#include "compiler/program/plan_symbols.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace firn {
namespace {

void add_symbols(const Size& size, std::set<std::string>& symbols) {
    for (std::string& name : size.symbols()) symbols.insert(std::move(name));
}

bool is_scalar_symbol(const std::string& name) { return name.starts_with('$'); }

/// The symbols of a program, by their uses.
struct SymbolUse {
    std::set<std::string> shape;  // buffers, dispatches
    std::set<std::string> trips;
    std::set<std::string> params;  // sizes given to kernels
    std::set<std::string> inductions;
};

void add_symbols(const std::vector<Step>& steps, SymbolUse& use) {
    for (const Step& step : steps) {
        if (const auto* dispatch = std::get_if<DispatchStep>(&step.step)) {
            for (const Size& groups : dispatch->groups) add_symbols(groups, use.shape);
            for (const ParamInfo& param : dispatch->params)
                if (param.scalar < 0) add_symbols(param.size, use.params);
        } else if (const auto* repeat = std::get_if<RepeatStep>(&step.step)) {
            add_symbols(repeat->trips, use.trips);
            use.inductions.insert(repeat->induction);
            add_symbols(repeat->body, use);
        }
    }
}

SymbolUse symbol_use(const Program& program) {
    SymbolUse use;
    for (const BufferInfo& buffer : program.buffers) add_symbols(buffer.elements, use.shape);
    add_symbols(program.steps, use);
    for (const HostScalar& scalar : program.host_scalars) add_symbols(scalar.size, use.params);
    return use;
}

}  // namespace

std::vector<std::string> plan_symbols(const Program& program, bool in_parts) {
    SymbolUse use = symbol_use(program);
    std::set<std::string> symbols = use.shape;
    for (const std::string& name : use.params)
        if (!is_scalar_symbol(name)) symbols.insert(name);
    for (const std::string& name : use.trips)
        if (!in_parts || !is_scalar_symbol(name)) symbols.insert(name);
    for (const std::string& name : use.inductions) symbols.erase(name);
    return {symbols.begin(), symbols.end()};
}

std::set<std::string> late_symbols(const Program& program) {
    SymbolUse use = symbol_use(program);
    std::erase_if(use.params, [&](const std::string& name) {
        return !is_scalar_symbol(name) || use.shape.contains(name) || use.trips.contains(name) ||
               use.inductions.contains(name);
    });
    return use.params;
}

std::set<std::string> inductions_of(const Program& program) {
    return symbol_use(program).inductions;
}

bool mentions_any(const Size& size, const std::set<std::string>& symbols) {
    if (symbols.empty() || size.is_constant()) return false;
    const std::vector<std::string> names = size.symbols();
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return symbols.contains(name); });
}

}  // namespace firn
