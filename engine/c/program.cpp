// Saved programs of the C interface, and what they say of themselves.
#include "engine/c/handles.h"

namespace firn::c {
namespace {

std::shared_ptr<ProgramState> load(const void* file, size_t bytes) {
    if (!file && bytes > 0) fail("the bytes of the program are NULL; give those of its file");
    auto state = std::make_shared<ProgramState>();
    state->saved = program_from_bytes({static_cast<const std::byte*>(file), bytes}, "the program");
    for (const ArgumentInfo& argument : state->saved.program->arguments)
        state->argument_shapes.push_back(text(argument.shape));
    for (const ResultInfo& result : state->saved.program->results)
        state->result_shapes.push_back(text(result.shape));
    for (const ProgramParameter& parameter : state->saved.parameters) {
        auto& names = state->choices.emplace_back();
        for (const std::string& name : parameter.names) names.push_back(name.c_str());
    }
    return state;
}

template <class List>
auto& checked(List& list, uint32_t index, const char* what) {
    if (index >= list.size())
        fail("the program has " + std::to_string(list.size()) + " " + what + "s and no number " +
             std::to_string(index));
    return list[index];
}

}  // namespace
}  // namespace firn::c

using namespace firn::c;

int32_t firn_program_load(firn_context* context, const void* file, size_t bytes,
                          firn_program** program) {
    return guarded(
        context,
        [&] {
            if (!program) fail("the place for the program is NULL; give one");
            *program = nullptr;
            auto made = std::make_unique<firn_program>();
            made->context = context;
            made->state = load(file, bytes);
            *program = made.release();
            ++context->programs;
        },
        FIRN_ERROR_FILE);
}

void firn_program_release(firn_program* program) {
    if (!program) return;
    released(program->context, [&] {
        --program->context->programs;
        delete program;
    });
}

int32_t firn_program_describe(firn_program* program, firn_program_info* info) {
    if (!program) return FIRN_ERROR_ARGUMENT;
    return guarded(program->context, [&] {
        const firn::SavedProgram& saved = program->state->saved;
        firn_program_info out{};
        out.argument_count = static_cast<uint32_t>(saved.program->arguments.size());
        out.result_count = static_cast<uint32_t>(saved.program->results.size());
        out.parameter_count = static_cast<uint32_t>(saved.parameters.size());
        out.form_count = static_cast<uint32_t>(1 + saved.variants.size());
        out.name = saved.name.c_str();
        give(info, out, "firn_program_info");
    });
}

int32_t firn_argument_describe(firn_program* program, uint32_t index, firn_tensor_info* info) {
    if (!program) return FIRN_ERROR_ARGUMENT;
    return guarded(program->context, [&] {
        const firn::SavedProgram& saved = program->state->saved;
        const firn::ArgumentInfo& argument = checked(saved.program->arguments, index, "argument");
        firn_tensor_info out{};
        out.dtype = static_cast<int32_t>(argument.dtype.type);
        out.is_scalar = argument.scalar;
        out.rank = static_cast<uint32_t>(argument.shape.size());
        out.name = argument.name.c_str();
        out.shape = program->state->argument_shapes[index].c_str();
        if (argument.scalar) {
            out.number = saved.scalars[index].as_double();
        } else {
            const std::vector<int64_t>& shape = saved.shapes[index];
            for (size_t axis = 0; axis < shape.size() && axis < FIRN_MAX_RANK; ++axis)
                out.saved[axis] = shape[axis];
        }
        give(info, out, "firn_tensor_info");
    });
}

int32_t firn_result_describe(firn_program* program, uint32_t index, firn_tensor_info* info) {
    if (!program) return FIRN_ERROR_ARGUMENT;
    return guarded(program->context, [&] {
        const firn::ResultInfo& result =
            checked(program->state->saved.program->results, index, "result");
        firn_tensor_info out{};
        out.dtype = static_cast<int32_t>(result.dtype.type);
        out.rank = static_cast<uint32_t>(result.shape.size());
        const auto& names = program->state->saved.result_names;
        out.name = index < names.size() ? names[index].c_str() : "";
        out.shape = program->state->result_shapes[index].c_str();
        give(info, out, "firn_tensor_info");
    });
}

int32_t firn_parameter_describe(firn_program* program, uint32_t index, firn_parameter_info* info) {
    if (!program) return FIRN_ERROR_ARGUMENT;
    return guarded(program->context, [&] {
        const firn::ProgramParameter& parameter =
            checked(program->state->saved.parameters, index, "parameter");
        firn_parameter_info out{};
        out.kind = static_cast<int32_t>(parameter.kind);
        out.count = static_cast<uint32_t>(parameter.value.size());
        out.choice_count = static_cast<uint32_t>(parameter.names.size());
        out.name = parameter.name.c_str();
        out.label = parameter.label.c_str();
        out.group = parameter.group.c_str();
        out.unit = parameter.unit.c_str();
        out.help = parameter.help.c_str();
        out.values = parameter.value.data();
        out.choices = program->state->choices[index].data();
        out.has_min = parameter.min.has_value();
        out.has_max = parameter.max.has_value();
        out.min = parameter.min.value_or(0);
        out.max = parameter.max.value_or(0);
        out.soft_min = parameter.soft_min.value_or(out.min);
        out.soft_max = parameter.soft_max.value_or(out.max);
        out.logarithmic = parameter.log;
        out.step = parameter.step;
        give(info, out, "firn_parameter_info");
    });
}
