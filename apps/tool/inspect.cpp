// firn inspect: what a saved program is and needs, as text.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/tool/commands.h"
#include "apps/tool/saved_file.h"
#include "compiler/base/error.h"
#include "compiler/program/walk_steps.h"
#include "engine/parameters/program_parameters.h"

namespace firn::tool {
namespace {

std::string counted(size_t count, const std::string& what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The name, where it says more than the number.
std::string own_name(const ArgumentInfo& argument, size_t number) {
    return argument.name == "argument " + std::to_string(number) ? "" : argument.name;
}

/// Rows of texts as columns that are as wide as they must be.
void print_table(const std::vector<std::vector<std::string>>& rows, const char* indent) {
    std::vector<size_t> widths;
    for (const auto& row : rows)
        for (size_t k = 0; k < row.size(); ++k) {
            if (widths.size() <= k) widths.push_back(0);
            widths[k] = std::max(widths[k], row[k].size());
        }
    for (const auto& row : rows) {
        std::string line = indent;
        for (size_t k = 0; k < row.size(); ++k) {
            line += row[k];
            if (widths[k] > 0) line.append(widths[k] - row[k].size() + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        std::printf("%s\n", line.c_str());
    }
}

void print_arguments(const SavedProgram& saved) {
    std::map<int, std::string> fed;
    for (const ProgramParameter& parameter : saved.parameters)
        for (int argument : parameter.arguments) fed[argument] = parameter.name;
    std::vector<std::vector<std::string>> rows;
    const Program& program = *saved.program;
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const ArgumentInfo& argument = program.arguments[k];
        std::string note;
        if (const auto at = fed.find(static_cast<int>(k)); at != fed.end())
            note = "from parameter " + at->second;
        else if (argument.scalar)
            note = "a number, " + text(saved.scalars[k]) + " if none is given";
        rows.push_back({std::to_string(k), own_name(argument, k),
                        type_text(argument.dtype, argument.shape), note});
    }
    std::printf("\nArguments%s\n", rows.empty() ? ": none" : "");
    print_table(rows, "  ");
}

void print_parameters(const SavedProgram& saved) {
    Parameters parameters;
    add_parameters(parameters, saved);
    std::vector<std::vector<std::string>> rows;
    for (const Parameter& parameter : parameters.all()) {
        rows.push_back({parameter.name, describe(parameter), "initially " + text_of(parameter),
                        parameter.group, parameter.label, parameter.help});
    }
    std::printf("\nParameters%s\n", rows.empty() ? ": none" : "");
    print_table(rows, "  ");
}

void print_results(const SavedProgram& saved) {
    const Program& program = *saved.program;
    std::vector<std::vector<std::string>> rows;
    const size_t first = first_result(program);
    for (size_t k = first; k < program.results.size(); ++k) {
        const ResultInfo& result = program.results[k];
        std::string note;
        for (size_t a = 0; a < program.arguments.size(); ++a)
            if (!program.arguments[a].scalar && program.arguments[a].buffer == result.buffer)
                note = "in the memory of " + argument_text(program, a);
        rows.push_back({std::to_string(k - first), result_name(saved, k),
                        type_text(result.dtype, result.shape), note});
    }
    std::printf("\nResults%s\n", rows.empty() ? ": none" : "");
    print_table(rows, "  ");
    if (first > 0)
        std::printf("  %s known only when the program has run\n",
                    counted(first, first == 1 ? "size is" : "sizes are").c_str());
}

/// A form at the sizes of a call; without symbols where the form does not serve them.
struct SizedForm {
    const Form& form;
    std::optional<SizeEnv> symbols;

    const Program& program() const { return *form.program; }
    /// A size, and its value if that is known: `4*n = 2048`.
    std::string value_text(const Size& size, bool as_bytes = false) const {
        std::string out = size.text();
        if (as_bytes && size.is_constant()) return bytes_text(double(size.constant()));
        if (size.is_constant()) return out;
        if (as_bytes) out += " bytes";
        try {
            if (symbols) {
                const int64_t value = size.evaluate(*symbols);
                out += " = " + (as_bytes ? bytes_text(double(value)) : std::to_string(value));
            }
        } catch (const UserError&) {
            // The iteration of a loop of steps is in it.
        }
        return out;
    }
};

std::string form_text(BindingForm form) {
    switch (form) {
        case BindingForm::Storage: return "storage buffer";
        case BindingForm::View: return "texel buffer";
        case BindingForm::Address: return "address";
    }
    throw InternalError("internal error: unknown form of binding");
}

void print_kernels(const Program& program) {
    const bool native = is_native(program);
    std::printf("  Kernels\n");
    for (const KernelInfo& kernel : program.kernels) {
        std::printf("    %s\n", kernel.name.c_str());
        // A name may have the line in it.
        if (const std::string lines = joined(kernel.lines);
            kernel.name.find(lines) == std::string::npos)
            std::printf("      from %s\n", lines.c_str());
        std::printf("      groups of %u x %u x %u invocations", kernel.group_size[0],
                    kernel.group_size[1], kernel.group_size[2]);
        if (kernel.shared_bytes > 0)
            std::printf(", %s of shared memory", bytes_text(kernel.shared_bytes).c_str());
        std::printf("\n");
        for (size_t k = 0; k < kernel.bindings.size(); ++k) {
            const BindingInfo& binding = kernel.bindings[k];
            const std::string width =
                binding.width > 1 ? ", " + std::to_string(binding.width) + " at a time" : "";
            const std::string form = native ? "" : form_text(binding.form) + " of ";
            std::printf("      binding %zu: %s%s%s%s\n", k, form.c_str(), binding.dtype.name(),
                        width.c_str(), binding.written ? ", written" : "");
        }
        if (!kernel.param_types.empty()) {
            std::vector<std::string> types;
            for (DType type : kernel.param_types) types.push_back(type.name());
            std::printf("      parameters%s: %s\n",
                        native                    ? ""
                        : kernel.params_in_buffer ? " in a uniform buffer"
                                                  : " in push constants",
                        joined(types).c_str());
        }
    }
}

std::string buffer_text(const Program& program, int buffer) {
    for (size_t k = 0; k < program.arguments.size(); ++k)
        if (!program.arguments[k].scalar && program.arguments[k].buffer == buffer) {
            const std::string name = own_name(program.arguments[k], k);
            return "argument " + std::to_string(k) + (name.empty() ? "" : " (" + name + ")");
        }
    const size_t first = first_result(program);
    for (size_t k = first; k < program.results.size(); ++k)
        if (program.results[k].buffer == buffer) return "result " + std::to_string(k - first);
    const BufferInfo& info = program.buffers[static_cast<size_t>(buffer)];
    return (info.role == BufferRole::Constant ? "constant " : "temporary ") +
           std::to_string(buffer) + (info.name.empty() ? "" : " (" + info.name + ")");
}

void print_steps(const SizedForm& sized, const std::vector<Step>& steps,
                 const std::string& indent) {
    const Program& program = sized.program();
    for (const Step& step : steps) {
        if (const auto* copy = std::get_if<CopyStep>(&step.step)) {
            std::printf("%scopy %s to %s\n", indent.c_str(),
                        buffer_text(program, copy->source).c_str(),
                        buffer_text(program, copy->target).c_str());
        } else if (const auto* repeat = std::get_if<RepeatStep>(&step.step)) {
            std::printf("%srepeat %s times%s%s\n", indent.c_str(),
                        sized.value_text(repeat->trips).c_str(),
                        repeat->alive >= 0 ? " at most, as long as the data says so" : "",
                        repeat->line.empty() ? "" : (" (" + repeat->line + ")").c_str());
            print_steps(sized, repeat->body, indent + "  ");
        } else {
            const auto& dispatch = std::get<DispatchStep>(step.step);
            const KernelInfo& kernel = program.kernels[static_cast<size_t>(dispatch.kernel)];
            std::vector<std::string> read, written, groups;
            for (size_t k = 0; k < dispatch.buffers.size(); ++k)
                (kernel.bindings[k].written ? written : read)
                    .push_back(buffer_text(program, dispatch.buffers[k]));
            for (const Size& size : dispatch.groups) groups.push_back(sized.value_text(size));
            while (groups.size() > 1 && groups.back() == "1") groups.pop_back();
            std::printf("%s%s: %s -> %s\n", indent.c_str(), kernel.name.c_str(),
                        joined(read).c_str(), joined(written).c_str());
            std::printf(
                "%s  groups %s%s\n", indent.c_str(), joined(groups, " x ").c_str(),
                dispatch.sizes_binding >= 0 ? " at most, an earlier kernel counts them" : "");
            std::printf("%s  reads %s, writes %s\n", indent.c_str(),
                        sized.value_text(dispatch.work.bytes_read, true).c_str(),
                        sized.value_text(dispatch.work.bytes_written, true).c_str());
        }
    }
}

void print_memory(const SizedForm& sized) {
    const Program& program = sized.program();
    Size temporaries, constants;
    size_t temporary_count = 0, constant_count = 0;
    for (const BufferInfo& buffer : program.buffers) {
        if (buffer.role == BufferRole::Temporary) temporaries += buffer.bytes(), ++temporary_count;
        if (buffer.role == BufferRole::Constant) constants += buffer.bytes(), ++constant_count;
    }
    std::printf("  Memory\n");
    if (temporary_count == 0) {
        std::printf("    temporaries: none\n");
    } else {
        std::printf("    %s: %s", counted(temporary_count, "temporary buffer").c_str(),
                    sized.value_text(temporaries, true).c_str());
        if (sized.symbols) {
            const bool flat = can_be_flat(program, *sized.symbols);
            const MemoryPlan plan =
                flat ? plan_memory(program, flatten(program, *sized.symbols), *sized.symbols)
                     : plan_rotating_memory(program, *sized.symbols).plan;
            std::printf("; packed by lifetime, %s", bytes_text(double(plan.bytes)).c_str());
        }
        std::printf("\n");
    }
    std::printf("    constants: %s\n",
                constant_count == 0 ? "none" : sized.value_text(constants, true).c_str());
}

void print_assumptions(const SizedForm& sized) {
    const Program& program = sized.program();
    for (const Guard& guard : program.guards)
        std::printf("    %s and %s are equal: %s\n", guard.left.text().c_str(),
                    guard.right.text().c_str(), guard.message.c_str());
    for (const AssumedSize& assumed : program.assumed)
        std::printf("    %s is at most %lld\n", sized.value_text(assumed.size).c_str(),
                    static_cast<long long>(assumed.most));
}

void print_needs(const Program& program) {
    std::set<std::string> features;
    uint32_t shared = 0, invocations = 0, params = 0;
    size_t storage = 0, views = 0;
    for (const KernelInfo& kernel : program.kernels) {
        const DeviceNeeds& needs = kernel.needs;
        if (needs.f64) features.insert("floats of 64 bits");
        if (needs.i64) features.insert("integers of 64 bits");
        if (needs.bits_16) features.insert("memory with elements of 16 bits");
        if (needs.bits_8) features.insert("memory with elements of 8 bits");
        if (needs.subgroups) features.insert("subgroups whose lanes exchange values");
        if (needs.wide_atomics) features.insert("atomics of 64 bits");
        if (needs.float_atomics) features.insert("atomic sums of floats");
        if (needs.addresses) features.insert("addresses of buffers");
        if (needs.exact_division) features.insert("the rounding of quotients and roots");
        if (kernel.keeps_special_floats) features.insert("floats that keep -0, inf and nan");
        if (kernel.matrix_unit)
            features.insert("a matrix unit of " + std::to_string(kernel.matrix_unit.rows) + " x " +
                            std::to_string(kernel.matrix_unit.columns) + " x " +
                            std::to_string(kernel.matrix_unit.depth));
        size_t own_storage = 0, own_views = 0;
        for (const BindingInfo& binding : kernel.bindings) {
            own_storage += binding.form == BindingForm::Storage;
            own_views += binding.form == BindingForm::View;
        }
        storage = std::max(storage, own_storage), views = std::max(views, own_views);
        shared = std::max(shared, kernel.shared_bytes);
        invocations = std::max(invocations,
                               kernel.group_size[0] * kernel.group_size[1] * kernel.group_size[2]);
        if (!kernel.params_in_buffer)
            params = std::max(params, param_offsets(kernel.param_types).back());
    }
    std::printf("  Needs of the device\n");
    if (is_native(program)) {
        std::printf("    a processor that is %s or above\n", program.profile.processor.c_str());
        return;
    }
    std::printf("    %u invocations in a group, %zu storage buffers, %zu texel buffers,\n",
                invocations, storage, views);
    std::printf("    %s of push constants, %s of shared memory\n", bytes_text(params).c_str(),
                bytes_text(shared).c_str());
    for (const std::string& feature : features) std::printf("    %s\n", feature.c_str());
}

void print_form(const SizedForm& sized, size_t number) {
    const Program& program = sized.program();
    std::printf("\nForm %zu: %s, %s\n", number, device_text(program).c_str(),
                facts_text(sized.form.facts).c_str());
    print_kernels(program);
    std::printf("  Steps\n");
    print_steps(sized, program.steps, "    ");
    print_memory(sized);
    if (!program.guards.empty() || !program.assumed.empty()) {
        std::printf("  Assumes\n");
        print_assumptions(sized);
    }
    print_needs(program);
}

}  // namespace

int inspect_file(const ToolOptions& options) {
    const SavedProgram saved = read_program(options.file);
    std::vector<Named> sizes;
    for (const std::string& size : options.sizes) sizes.push_back(named("--size", size));
    const auto shapes = shapes_at(saved, sizes);
    const SizeEnv symbols = bind_symbols(*saved.program, shapes, saved.scalars);
    const std::vector<Form> forms = forms_of(saved);
    std::printf("%s: program '%s' in %s\n", options.file.c_str(), saved.name.c_str(),
                counted(forms.size(), "form").c_str());
    if (const std::string at = sizes_text(*saved.program, symbols); !at.empty())
        std::printf(
            "Numbers beside formulas are for %s%s.\n", at.c_str(),
            sizes.empty() ? ", the sizes of the call that was saved; --size gives others" : "");
    print_arguments(saved);
    print_parameters(saved);
    print_results(saved);
    for (size_t k = 0; k < forms.size(); ++k) {
        SizedForm sized{forms[k], {}};
        if (hold(forms[k].facts, symbols) && binds(*forms[k].program, symbols))
            sized.symbols = bind_symbols(*forms[k].program, shapes, saved.scalars);
        print_form(sized, k);
    }
    return 0;
}

}  // namespace firn::tool
