// Checks whether all parts of a saved program fit together.
#include "compiler/program/check_program.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/base/error.h"

namespace firn {
namespace {

using Names = std::set<std::string>;

[[noreturn]] void does_not_fit(const std::string& what) { throw UserError(what); }

void fits(bool condition, const std::string& what) {
    if (!condition) does_not_fit(what);
}

/// An index into `list`.
template <class List>
bool in(int64_t index, const List& list) {
    return index >= 0 && static_cast<uint64_t>(index) < list.size();
}

std::string numbered(const char* kind, size_t k) { return kind + (" " + std::to_string(k)); }

/// Returns the symbols that a call gives a value: sizes that stand alone in an argument's shape,
/// and integer arguments.
Names symbols_of_calls(const Program& program) {
    Names out;
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const ArgumentInfo& argument = program.arguments[k];
        if (argument.scalar && argument.dtype == i32)
            out.insert(scalar_symbol(static_cast<int>(k)));
        for (const Size& size : argument.shape)
            if (const auto names = size.symbols();
                names.size() == 1 && names[0][0] != '?' && size == Size::symbol(names[0]))
                out.insert(names[0]);
    }
    return out;
}

class ProgramCheck {
  public:
    explicit ProgramCheck(const Program& program)
        : program_(program), known_(symbols_of_calls(program)) {}

    void run() {
        check_profile(program_.profile);
        for (size_t k = 0; k < program_.buffers.size(); ++k) check_buffer(k);
        for (size_t k = 0; k < program_.arguments.size(); ++k) check_argument(k);
        check_results();
        for (const Guard& guard : program_.guards)
            known(guard.left, "a guard"), known(guard.right, "a guard");
        for (const AssumedSize& assumed : program_.assumed) known(assumed.size, "an assumed size");
        for (size_t k = 0; k < program_.host_scalars.size(); ++k) check_number(k);
        for (size_t k = 0; k < program_.kernels.size(); ++k) check_code(program_.kernels[k]);
        check(program_.steps);
    }

  private:
    const BufferInfo& buffer(int64_t index, const std::string& subject) const {
        fits(in(index, program_.buffers), subject + " names a buffer that is not there");
        return program_.buffers[static_cast<size_t>(index)];
    }
    void known(const Size& size, const std::string& subject) const {
        for (const std::string& symbol : size.symbols())
            fits(known_.contains(symbol),
                 subject + " depends on the size '" + symbol + "', which no call gives a value");
    }

    /// Costs are quotients of these.
    static void check_profile(const DeviceProfile& profile) {
        for (double rate :
             {profile.operations_per_second, profile.bytes_per_second, profile.seconds_per_load,
              profile.shared_loads, profile.seconds_per_launch})
            fits(std::isfinite(rate) && rate >= 0, "its device has an invalid rate");
        fits(profile.subgroup_size > 0 && profile.buffer_alignment > 0 &&
                 profile.buffer_alignment <= (1u << 20),
             "its device has an invalid limit");
    }

    void check_buffer(size_t k) const {
        const BufferInfo& info = program_.buffers[k];
        const std::string subject = numbered("buffer", k);
        known(info.elements, subject);
        known(info.bytes(), subject);
        if (info.role != BufferRole::Constant)
            return fits(info.data.empty(), subject + " has data and is not a constant");
        fits(info.elements.is_constant() && info.elements.constant() >= 0 &&
                 info.data.size() <= static_cast<uint64_t>(info.bytes().constant()),
             subject + " is a constant with more data than elements");
    }

    void check_argument(size_t k) const {
        const ArgumentInfo& argument = program_.arguments[k];
        const std::string subject = numbered("argument", k);
        for (const Size& size : argument.shape) known(size, subject);
        if (argument.scalar)
            return fits(argument.shape.empty() && argument.buffer == -1,
                        subject + " is a number but has a shape or a buffer");
        if (argument.buffer == -1) return;  // it is not read
        const BufferInfo& memory = buffer(argument.buffer, subject);
        fits(memory.role == BufferRole::Argument && memory.dtype == argument.dtype,
             subject + " lies in a buffer of another kind");
    }

    void check_results() const {
        std::set<std::string> data;
        for (size_t k = 0; k < program_.data_sizes.size(); ++k) {
            const DataSize& size = program_.data_sizes[k];
            const std::string subject = numbered("data size", k);
            buffer(size.buffer, subject);
            const auto symbols = data_symbols(size.size);
            fits(symbols.size() == 1, subject + " is not a single size");
            data.insert(symbols[0].name);
        }
        fits(program_.data_sizes.size() <= program_.results.size(),
             "it has more data sizes than results");
        for (size_t k = 0; k < program_.results.size(); ++k) {
            const ResultInfo& result = program_.results[k];
            const std::string subject = numbered("result", k);
            fits(buffer(result.buffer, subject).dtype == result.dtype,
                 subject + " lies in a buffer of another type");
            for (const Size& size : result.shape)
                for (const std::string& symbol : size.symbols())
                    fits(known_.contains(symbol) || data.contains(symbol),
                         subject + " depends on the size '" + symbol +
                             "', which no call gives a value");
        }
    }

    void check_number(size_t k) const {
        const HostScalar& number = program_.host_scalars[k];
        const std::string subject = numbered("host number", k);
        const auto before = [&](int operand) {
            return operand >= 0 && static_cast<size_t>(operand) < k;
        };
        if (number.op == HostOp::Argument)
            fits(in(number.argument, program_.arguments) &&
                     program_.arguments[static_cast<size_t>(number.argument)].scalar,
                 subject + " names an argument that is not a number");
        if (number.op > HostOp::Size) fits(before(number.a), subject + " has an invalid operand");
        if (number.op >= HostOp::Add) fits(before(number.b), subject + " has an invalid operand");
        for (int operand : {number.a, number.b})
            fits(operand == -1 || before(operand), subject + " has an invalid operand");
    }

    static void check_code(const KernelInfo& kernel) {
        const std::string subject = "kernel '" + kernel.name + "'";
        fits(!kernel.artefact.words.empty(), subject + " has no code that a device runs");
        uint64_t group = 1;
        for (uint32_t extent : kernel.group_size) {
            fits(extent > 0 && extent <= (1u << 20),
                 subject + " has a workgroup of an invalid size");
            group *= extent;
        }
        fits(group <= (1u << 20), subject + " has a workgroup of an invalid size");
        for (const BindingInfo& binding : kernel.bindings) {
            const bool whole = binding.width == 1 || binding.width == 2 || binding.width == 4 ||
                               binding.width == 8 || binding.width == 16;
            fits(whole, subject + " has a binding with an invalid width");
            if (binding.form == BindingForm::View)
                fits(binding.dtype.bytes() == 4 && binding.width <= 4 && !binding.written,
                     subject + " has a view with an invalid element type");
        }
    }

    void check(const std::vector<Step>& steps) {
        for (const Step& step : steps)
            std::visit([this](const auto& kind) { check(kind); }, step.step);
    }

    void check(const DispatchStep& step) {
        fits(in(step.kernel, program_.kernels), "a dispatch names a kernel that is not there");
        const KernelInfo& kernel = program_.kernels[static_cast<size_t>(step.kernel)];
        const std::string subject = "a dispatch of kernel '" + kernel.name + "'";
        fits(step.buffers.size() == kernel.bindings.size(),
             subject + " has another number of buffers than the kernel has bindings");
        for (size_t k = 0; k < step.buffers.size(); ++k)
            fits(buffer(step.buffers[k], subject).dtype.bytes() == kernel.bindings[k].dtype.bytes(),
                 subject + " binds a buffer of another type");
        check_params(step, kernel, subject);
        for (const Size& groups : step.groups) known(groups, subject);
        for (const Size& work :
             {step.work.operations, step.work.bytes_read, step.work.bytes_written})
            known(work, subject);
        if (step.sizes_binding == -1) return;
        fits(in(step.sizes_binding, step.buffers),
             subject + " takes its number of groups from a buffer that is not there");
        const BufferInfo& sizes =
            buffer(step.buffers[static_cast<size_t>(step.sizes_binding)], subject);
        fits(sizes.dtype == i32 && step.sizes_groups >= 0 &&
                 step.sizes_groups <= sizes.elements.lower_bound() - 3,
             subject + " takes its number of groups from outside a buffer");
    }

    void check_params(const DispatchStep& step, const KernelInfo& kernel,
                      const std::string& subject) {
        const auto addresses = static_cast<size_t>(
            std::count_if(kernel.bindings.begin(), kernel.bindings.end(),
                          [](const BindingInfo& b) { return b.form == BindingForm::Address; }));
        fits(step.params.size() + addresses == kernel.param_types.size(),
             subject + " has another number of parameters than the kernel");
        for (size_t k = step.params.size(); k < kernel.param_types.size(); ++k)
            fits(kernel.param_types[k].bytes() == 8,
                 subject + " has a parameter too small for an address");
        for (const ParamInfo& param : step.params) {
            if (param.scalar == -1) {
                known(param.size, subject);
            } else if (in(param.scalar, program_.arguments)) {
                fits(program_.arguments[static_cast<size_t>(param.scalar)].scalar,
                     subject + " takes a number from an argument that is not a number");
            } else {
                const int64_t number =
                    param.scalar - static_cast<int64_t>(program_.arguments.size());
                fits(in(number, program_.host_scalars),
                     subject + " takes a number that is not there");
                any_size(program_.host_scalars, static_cast<int>(number), [&](const Size& size) {
                    known(size, subject);
                    return false;
                });
            }
        }
    }

    /// Bytes move between them, or one takes the other's place.
    void check_alike(int64_t a, int64_t b, const std::string& subject) const {
        const BufferInfo &first = buffer(a, subject), &second = buffer(b, subject);
        fits(first.bytes() == second.bytes(), subject + " has buffers of different sizes");
    }

    void check(const CopyStep& step) const {
        check_alike(step.source, step.target, "a copy");
        fits(buffer(step.target, "a copy").role != BufferRole::Constant,
             "a copy goes to a constant");
    }

    void check(const CallStep& step) const {
        fits(false, "it calls " + step.operation->name() +
                        " on the host, which no file can hold; save the functions before and "
                        "behind the call" +
                        (step.line.empty() ? "" : " (" + step.line + ")"));
    }

    void check(const RepeatStep& step) {
        const std::string subject = "the loop at " + step.line;
        known(step.trips, subject);
        std::vector<int> firsts, seconds;
        for (const auto& [first, second] : step.rotation) {
            check_alike(first, second, subject);
            firsts.push_back(first), seconds.push_back(second);
        }
        std::sort(firsts.begin(), firsts.end());
        std::sort(seconds.begin(), seconds.end());
        fits(firsts == seconds && std::adjacent_find(firsts.begin(), firsts.end()) == firsts.end(),
             subject + " does not exchange its buffers one for one");
        if (step.alive != -1)
            fits(buffer(step.alive, subject).dtype == boolean,
                 subject + " has a condition that is not a bool");
        const bool added = !step.induction.empty() && known_.insert(step.induction).second;
        check(step.body);
        if (added) known_.erase(step.induction);
    }

    const Program& program_;
    Names known_;  // symbols that have a value where the check stands
};

size_t component_count(const ProgramParameter& parameter) {
    using Kind = ProgramParameter::Kind;
    switch (parameter.kind) {
        case Kind::Vector: return parameter.value.size();
        case Kind::Colour: return 3;
        case Kind::Float:
        case Kind::Int:
        case Kind::Bool:
        case Kind::Choice:
        case Kind::Angle: return 1;
    }
    return 0;
}

void check_range(const ProgramParameter& parameter, const std::string& subject) {
    const auto ordered = [](const std::optional<double>& low, const std::optional<double>& high) {
        return (!low || !std::isnan(*low)) && (!high || !std::isnan(*high)) &&
               (!low || !high || *low <= *high);
    };
    const auto& p = parameter;
    fits(ordered(p.min, p.max) && ordered(p.soft_min, p.soft_max) && ordered(p.min, p.soft_min) &&
             ordered(p.soft_max, p.max),
         subject + " has an invalid range");
    for (double value : p.value) {
        fits(std::isfinite(value) && std::abs(value) <= 3.5e38, subject + " has an invalid value");
        fits(value >= p.min.value_or(value) && value <= p.max.value_or(value),
             subject + " has a value outside of its own range");
    }
    using Kind = ProgramParameter::Kind;
    if (p.kind == Kind::Int || p.kind == Kind::Choice || p.kind == Kind::Bool)
        fits(p.value[0] == std::floor(p.value[0]) && std::abs(p.value[0]) < 2147483648.0,
             subject + " has a value that is not an integer");
    if (p.kind == Kind::Bool)
        fits(p.value[0] == 0 || p.value[0] == 1, subject + " is neither 0 nor 1");
    if (p.kind == Kind::Choice)
        fits(in(static_cast<int64_t>(p.value[0]), p.names),
             subject + " has a value that is none of its choices");
}

void check_variant(const SavedVariant& variant, const Program& program) {
    const Program& other = *variant.program;
    ProgramCheck(other).run();
    const auto same = [](const ArgumentInfo& a, const ArgumentInfo& b) {
        return a.dtype == b.dtype && a.scalar == b.scalar && a.shape.size() == b.shape.size();
    };
    fits(std::equal(other.arguments.begin(), other.arguments.end(), program.arguments.begin(),
                    program.arguments.end(), same),
         "a variant has other arguments than the program");
    const auto alike = [](const ResultInfo& a, const ResultInfo& b) {
        return a.dtype == b.dtype && a.shape.size() == b.shape.size();
    };
    fits(std::equal(other.results.begin(), other.results.end(), program.results.begin(),
                    program.results.end(), alike),
         "a variant has other results than the program");
    const Names known = symbols_of_calls(program);
    for (const SizeEnv* values :
         {&variant.facts.exact, &variant.facts.divisors, &variant.facts.largest})
        for (const auto& [symbol, value] : *values)
            fits(known.contains(symbol) && (values != &variant.facts.divisors || value > 0),
                 "a variant assumes something of '" + symbol + "' that no call can satisfy");
}

}  // namespace

void check_saved(const SavedProgram& saved) {
    const Program& program = *saved.program;
    ProgramCheck(program).run();
    for (const SavedVariant& variant : saved.variants) check_variant(variant, program);
    fits(saved.scalars.size() == program.arguments.size() &&
             saved.shapes.size() == program.arguments.size(),
         "it has another number of values than of arguments");
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const ArgumentInfo& argument = program.arguments[k];
        fits(!argument.scalar || saved.scalars[k].dtype == argument.dtype,
             "argument " + std::to_string(k) + " has a value of another type");
        fits(saved.shapes[k].size() == argument.shape.size(),
             "argument " + std::to_string(k) + " has sizes of another rank");
    }
    fits(saved.result_names.empty() || saved.result_names.size() == program.results.size(),
         "it has another number of names than of results");
    std::set<std::string> names;
    for (const ProgramParameter& parameter : saved.parameters) {
        const std::string subject = "parameter '" + parameter.name + "'";
        fits(!parameter.name.empty() && names.insert(parameter.name).second,
             subject + " has no name, or the name of another parameter");
        const size_t count = component_count(parameter);
        fits(parameter.value.size() == count && count > 0 && count <= 4 &&
                 !parameter.arguments.empty() && parameter.arguments.size() % count == 0,
             subject + " has another number of values than of arguments");
        for (int argument : parameter.arguments)
            fits(in(argument, program.arguments) &&
                     program.arguments[static_cast<size_t>(argument)].scalar,
                 subject + " feeds an argument that is not a number");
        check_range(parameter, subject);
    }
}

}  // namespace firn
