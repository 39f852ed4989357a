// Calls of the C interface: the form of the program, its memory, its numbers.
#include "engine/c/call.h"

#include <algorithm>
#include <cstdio>

#include "compiler/program/make_call.h"
#include "compiler/program/plan_symbols.h"

namespace firn::c {
namespace {

std::shared_ptr<LoadedProgram> loaded_program(firn_call& call, const Program& program) {
    std::weak_ptr<LoadedProgram>& kept = call.state->loaded[&program];
    std::shared_ptr<LoadedProgram> loaded = kept.lock();
    if (!loaded) {
        loaded = std::make_shared<LoadedProgram>(call.context->device, program);
        kept = loaded;
    }
    return loaded;
}

/// The values of all that a plan of the program depends on.
std::vector<int64_t> deciding_values(const Program& program, const SizeEnv& symbols) {
    std::vector<int64_t> values;
    for (const std::string& name : plan_symbols(program)) values.push_back(symbols.at(name));
    return values;
}

/// A kernel can be bound to the memory of an argument, a result or the scratch.
struct Needed {
    uint64_t bytes = 0;
    uint32_t usage = 0;
    bool written = false;
    const Shape* shape = nullptr;
};

Needed needed_of_argument(const firn_call& call, uint32_t index) {
    const ArgumentInfo& argument = call.program->arguments[index];
    if (argument.scalar || argument.buffer < 0) return {0, 0, false, &argument.shape};
    const auto slot = static_cast<size_t>(argument.buffer);
    return {call.plan->slot_bytes[slot], call.usage.slots[slot], call.plan->slot_written[slot],
            &argument.shape};
}

Needed needed_of_result(const firn_call& call, uint32_t index) {
    const ResultInfo& result = call.program->results[index];
    const uint32_t usage = call.plan->in_parts ? uint32_t{VK_BUFFER_USAGE_STORAGE_BUFFER_BIT}
                                               : call.usage.results[index];
    return {call.plan->slot_bytes[static_cast<size_t>(result.buffer)], usage, true, &result.shape};
}

void check_index(size_t count, uint32_t index, const char* what) {
    if (index >= count)
        fail("the call has " + std::to_string(count) + " " + what + "s and no number " +
             std::to_string(index));
}

/// An argument, a result or the scratch, as messages name it.
struct Place {
    int32_t what = FIRN_SCRATCH;
    size_t index = 0;
    const char* name = "";
    std::string text() const {
        if (what == FIRN_SCRATCH) return "the scratch";
        if (what == FIRN_RESULT) return "result " + std::to_string(index);
        return "argument " + std::to_string(index) + " '" + name + "'";
    }
};

/// The range of a binding, and the owner of its memory.
BufferRange range_of(const firn_call& call, const firn_binding& binding, const Place& place,
                     std::shared_ptr<Buffer>& own) {
    own = nullptr;
    if (!binding.buffer) return {};
    if (binding.buffer->context != call.context)
        fail("the buffer of " + place.text() + " belongs to another context; make it on this one");
    BufferRange range = binding.buffer->range;
    if (binding.offset > range.bytes || binding.bytes > range.bytes - binding.offset)
        fail("the buffer of " + place.text() + " has " + std::to_string(range.bytes) +
             " bytes, and the range from byte " + std::to_string(binding.offset) + " on with " +
             std::to_string(binding.bytes) + " ends behind them; give a range inside of it");
    range.offset += binding.offset;
    range.bytes = binding.bytes > 0 ? binding.bytes : range.bytes - binding.offset;
    own = binding.buffer->own;
    return range;
}

std::shared_ptr<Buffer> make_memory(const firn_call& call, uint64_t bytes,
                                    const std::string& name) {
    return create_buffer(call.context->device, bytes, name);
}

/// The memory of a call that is to be: kept only if all of it can be made.
struct NewMemory {
    Bindings bindings;
    std::vector<std::shared_ptr<Buffer>> arguments, results;
    std::shared_ptr<Buffer> scratch;
    std::vector<BoundImage> images;
};

/// Memory that an image fills before the call, or is filled from behind it.
BufferRange image_memory(const firn_call& call, const firn_binding& binding, const Needed& needed,
                         DType dtype, const Place& place, bool is_result,
                         std::shared_ptr<Buffer>& own, NewMemory& memory) {
    if (binding.buffer) fail(place.text() + " was given a buffer and an image; give one of them");
    if (binding.image->context != call.context)
        fail("the image of " + place.text() + " belongs to another context; import it on this one");
    std::vector<int64_t> shape;
    for (const Size& extent : *needed.shape) shape.push_back(extent.evaluate(call.symbols));
    own = make_memory(call, needed.bytes, place.text());
    memory.images.push_back(bind_image(*call.context, binding.image->image, own, dtype, shape,
                                       place.text(), is_result));
    return own->range();
}

NewMemory new_memory(const firn_call& call, const firn_binding* arguments,
                     const firn_binding* results, const firn_binding* scratch) {
    NewMemory memory;
    memory.arguments.resize(call.program->arguments.size());
    memory.results.resize(call.program->results.size());
    for (size_t k = 0; k < call.program->arguments.size(); ++k) {
        const ArgumentInfo& argument = call.program->arguments[k];
        const Place place{FIRN_ARGUMENT, k, argument.name.c_str()};
        if (!argument.scalar && arguments[k].image) {
            memory.bindings.arguments.push_back(
                image_memory(call, arguments[k], needed_of_argument(call, static_cast<uint32_t>(k)),
                             argument.dtype, place, false, memory.arguments[k], memory));
            continue;
        }
        if (!argument.scalar && !arguments[k].buffer)
            fail(place.text() + " is a tensor and was given no buffer; give one of " +
                 std::to_string(needed_of_argument(call, static_cast<uint32_t>(k)).bytes) +
                 " bytes");
        memory.bindings.arguments.push_back(
            argument.scalar ? BufferRange{}
                            : range_of(call, arguments[k], place, memory.arguments[k]));
    }
    for (size_t k = 0; k < call.program->results.size(); ++k) {
        const Place place{FIRN_RESULT, k, ""};
        if (results && results[k].image) {
            memory.bindings.results.push_back(image_memory(
                call, results[k], needed_of_result(call, static_cast<uint32_t>(k)),
                call.program->results[k].dtype, place, true, memory.results[k], memory));
            continue;
        }
        if (results && results[k].buffer) {
            memory.bindings.results.push_back(range_of(call, results[k], place, memory.results[k]));
            continue;
        }
        memory.results[k] =
            make_memory(call, needed_of_result(call, static_cast<uint32_t>(k)).bytes, place.text());
        memory.bindings.results.push_back(memory.results[k]->range());
    }
    if (scratch && scratch->buffer) {
        memory.bindings.scratch = range_of(call, *scratch, Place(), memory.scratch);
        if (memory.bindings.scratch.bytes < call.plan->scratch_bytes)
            fail("the scratch has " + std::to_string(memory.bindings.scratch.bytes) +
                 " bytes and the call takes " + std::to_string(call.plan->scratch_bytes) +
                 "; see firn_call_memory");
        if (memory.bindings.scratch.offset % call.context->device->profile().buffer_alignment != 0)
            fail("the scratch starts at byte " + std::to_string(memory.bindings.scratch.offset) +
                 " of its buffer; start it at a multiple of " +
                 std::to_string(call.context->device->profile().buffer_alignment));
    } else if (call.plan->scratch_bytes > 0) {
        memory.scratch = make_memory(call, call.plan->scratch_bytes, "scratch");
        memory.bindings.scratch = memory.scratch->range();
    }
    return memory;
}

/// What commands may still use is kept until they are complete.
void retire_memory(firn_call& call) {
    for (BoundImage& image : std::exchange(call.images, {})) call.context->retire(image.packed);
    call.prepared.reset();  // its descriptor sets are deferred by the device
    for (auto* list : {&call.own_arguments, &call.own_results})
        for (const auto& buffer : std::exchange(*list, {})) call.context->retire(buffer);
    call.context->retire(std::exchange(call.own_scratch, nullptr));
    call.bindings = {};
}

void take(firn_call& call, NewMemory memory) {
    auto prepared = call.plan->in_parts
                        ? nullptr
                        : std::make_unique<PreparedCall>(*call.loaded, *call.program, call.plan,
                                                         memory.bindings);
    retire_memory(call);
    call.bindings = std::move(memory.bindings);
    call.own_arguments = std::move(memory.arguments);
    call.own_results = std::move(memory.results);
    call.own_scratch = std::move(memory.scratch);
    call.prepared = std::move(prepared);
    call.images = std::move(memory.images);
}

/// A number as people write it: `0.05`.
std::string short_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

/// `from 0 to 0.5`, `at most 4`: the values that a parameter may have.
std::string range_text(const ProgramParameter& parameter) {
    if (parameter.kind == ProgramParameter::Kind::Choice)
        return "a choice, from 0 to " + std::to_string(parameter.names.size() - 1);
    if (parameter.min && parameter.max)
        return "from " + short_text(*parameter.min) + " to " + short_text(*parameter.max);
    if (parameter.min) return "at least " + short_text(*parameter.min);
    if (parameter.max) return "at most " + short_text(*parameter.max);
    return "a number";
}

void set_scalar(firn_call& call, uint32_t index, const Scalar& value) {
    check_index(call.program->arguments.size(), index, "argument");
    const ArgumentInfo& argument = call.program->arguments[index];
    const Place place{FIRN_ARGUMENT, index, argument.name.c_str()};
    if (!argument.scalar) fail(place.text() + " is a tensor; give it memory by firn_call_bind");
    if (loses_value(value, argument.dtype))
        fail(place.text() + " is a number of the type " + argument.dtype.name() +
             ", which cannot hold " +
             (value.dtype.is_float() ? std::to_string(value.f) : std::to_string(value.i)));
    call.scalars[index] = value.to(argument.dtype);
}

/// Integers may decide the form and the plan of a call: then it gets new ones, and its memory stays
/// where that fits.
void settle(firn_call& call, std::vector<Scalar> before) {
    bool decides = false;
    for (size_t k = 0; k < before.size(); ++k)
        decides |= before[k].dtype == i32 && before[k].i != call.scalars[k].i;
    if (!decides) return;
    try {
        if (!choose_form(call) || call.bindings.results.empty()) return;
        // The old scratch may be too small; results have the same sizes or fail to bind.
        NewMemory memory{call.bindings, call.own_arguments, call.own_results, nullptr, {}};
        memory.bindings.scratch = {};
        if (call.plan->scratch_bytes > 0) {
            memory.scratch = make_memory(call, call.plan->scratch_bytes, "scratch");
            memory.bindings.scratch = memory.scratch->range();
        }
        std::vector<BoundImage> images = std::move(call.images);
        call.images.clear();
        try {
            take(call, std::move(memory));
        } catch (...) {
            call.images = std::move(images);
            throw;
        }
        call.images = std::move(images);
    } catch (...) {
        call.scalars = std::move(before);
        (void)choose_form(call);
        throw;
    }
}

}  // namespace

bool choose_form(firn_call& call) {
    const SavedProgram& saved = call.state->saved;
    const DeviceProfile& profile = call.context->device->profile();
    SizeEnv symbols = bind_symbols(*saved.program, call.shapes, call.scalars);
    std::shared_ptr<const Program> program;
    try {
        program = program_for(
            saved, call.context->device_name,
            [&](const Program& form) { return why_cannot_run(form, profile); }, call.shapes,
            call.scalars);
    } catch (const UserError& error) {
        std::string text = error.what();
        if (!call.context->device->may_probe())
            text +=
                ". What only a kernel could show to be right (lanes that exchange values, matrix "
                "units, quotients) counts as missing, since the context has no "
                "FIRN_HOST_MAY_PROBE with a queue; save the program for vulkan-least too";
        fail(FIRN_ERROR_UNSUPPORTED, text);
    }
    for (const AssumedSize& assumed : program->assumed)
        if (const int64_t size = assumed.size.evaluate(symbols); size > assumed.most)
            fail("the size " + assumed.size.text() + " is " + std::to_string(size) +
                 ", and the program binds at most " + std::to_string(assumed.most) +
                 "; use smaller tensors, or save it with tensors as large as these");
    if (program == call.program &&
        deciding_values(*program, symbols) == deciding_values(*program, call.symbols)) {
        call.symbols = std::move(symbols);
        return false;
    }
    auto loaded = loaded_program(call, *program);
    auto plan = loaded->plan(*program, symbols);
    CallUsage usage;
    if (!plan->in_parts) usage = usage_of(*program, *plan, plan->result_slots);
    usage.slots.resize(program->buffers.size(), 0);
    if (call.loaded && call.loaded != loaded) call.context->retire(call.loaded);
    call.program = std::move(program);
    call.symbols = std::move(symbols);
    call.loaded = std::move(loaded);
    call.plan = std::move(plan);
    call.usage = std::move(usage);
    call.params = unpatched(*call.plan);
    call.timestamps.reset();
    return true;
}

void require_memory(const firn_call& call) {
    if (call.bindings.results.empty() && call.bindings.arguments.empty())
        fail("the call has no memory yet; call firn_call_bind first");
}

}  // namespace firn::c

using namespace firn::c;

int32_t firn_call_create(firn_program* program, const firn_shape* shapes, uint32_t count,
                         firn_call** call) {
    if (!program) return FIRN_ERROR_ARGUMENT;
    firn_context* context = program->context;
    return guarded(context, [&] {
        if (!call) fail("the place for the call is NULL; give one");
        *call = nullptr;
        context->collect();
        const firn::SavedProgram& saved = program->state->saved;
        auto made = std::make_unique<firn_call>();
        made->context = context;
        made->state = program->state;
        made->shapes = saved.shapes;
        made->scalars = saved.scalars;
        if (shapes) {
            if (count != saved.shapes.size())
                fail("the program has " + std::to_string(saved.shapes.size()) +
                     " arguments and was given " + std::to_string(count) +
                     " shapes; give one for each");
            for (size_t k = 0; k < saved.shapes.size(); ++k) {
                if (saved.program->arguments[k].scalar) continue;
                if (shapes[k].rank > FIRN_MAX_RANK)
                    fail("shape " + std::to_string(k) + " has the rank " +
                         std::to_string(shapes[k].rank) + "; the most is 8");
                made->shapes[k].assign(shapes[k].extents, shapes[k].extents + shapes[k].rank);
            }
        }
        choose_form(*made);
        *call = made.release();
        ++context->calls;
    });
}

void firn_call_release(firn_call* call) {
    if (!call) return;
    released(call->context, [&] {
        --call->context->calls;
        retire_memory(*call);
        call->context->retire(call->loaded);
        delete call;
    });
}

int32_t firn_call_memory(firn_call* call, int32_t what, uint32_t index, firn_memory_info* info) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        Needed needed;
        if (what == FIRN_ARGUMENT) {
            check_index(call->program->arguments.size(), index, "argument");
            needed = needed_of_argument(*call, index);
        } else if (what == FIRN_RESULT) {
            check_index(call->program->results.size(), index, "result");
            needed = needed_of_result(*call, index);
        } else if (what == FIRN_SCRATCH) {
            needed = {call->plan->scratch_bytes, call->usage.scratch, true, nullptr};
        } else {
            fail("no memory of the kind " + std::to_string(what) +
                 " exists; give FIRN_ARGUMENT, FIRN_RESULT or FIRN_SCRATCH");
        }
        firn_memory_info out{};
        out.usage = needed.usage;
        out.bytes = needed.bytes;
        out.alignment = call->context->device->profile().buffer_alignment;
        out.written = needed.written;
        if (needed.shape) {
            out.rank = static_cast<uint32_t>(needed.shape->size());
            for (size_t axis = 0; axis < needed.shape->size() && axis < FIRN_MAX_RANK; ++axis)
                out.extents[axis] = (*needed.shape)[axis].evaluate(call->symbols);
        }
        give(info, out, "firn_memory_info");
    });
}

int32_t firn_call_bind(firn_call* call, const firn_binding* arguments, uint32_t argument_count,
                       const firn_binding* results, uint32_t result_count,
                       const firn_binding* scratch) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        call->context->collect();
        if (argument_count != call->program->arguments.size() || (argument_count > 0 && !arguments))
            fail("the program has " + std::to_string(call->program->arguments.size()) +
                 " arguments and was given " + std::to_string(arguments ? argument_count : 0) +
                 " bindings; give one for each");
        if (results && result_count != call->program->results.size())
            fail("the program has " + std::to_string(call->program->results.size()) +
                 " results and was given " + std::to_string(result_count) +
                 " bindings; give one for each, or NULL");
        take(*call, new_memory(*call, arguments, results, scratch));
    });
}

int32_t firn_call_result(firn_call* call, uint32_t index, firn_buffer** buffer) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        if (!buffer) fail("the place for the buffer is NULL; give one");
        *buffer = nullptr;
        check_index(call->program->results.size(), index, "result");
        require_memory(*call);
        auto made = std::make_unique<firn_buffer>();
        made->context = call->context;
        made->own = call->own_results[index];
        made->range = call->bindings.results[index];
        *buffer = made.release();
        ++call->context->buffers;
    });
}

int32_t firn_call_set_number(firn_call* call, uint32_t argument, double value) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        const std::vector<firn::Scalar> before = call->scalars;
        set_scalar(*call, argument, firn::scalar_float(value, firn::f64));
        settle(*call, before);
    });
}

int32_t firn_call_set_integer(firn_call* call, uint32_t argument, int64_t value) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        const std::vector<firn::Scalar> before = call->scalars;
        set_scalar(*call, argument, firn::scalar_int(value, firn::i64));
        settle(*call, before);
    });
}

int32_t firn_call_set_parameter(firn_call* call, uint32_t parameter, const double* values,
                                uint32_t count) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        const auto& parameters = call->state->saved.parameters;
        check_index(parameters.size(), parameter, "parameter");
        const firn::ProgramParameter& info = parameters[parameter];
        if (count != info.value.size() || !values)
            fail("parameter '" + info.name + "' has " + std::to_string(info.value.size()) +
                 " numbers and was given " + std::to_string(values ? count : 0));
        for (uint32_t k = 0; k < count; ++k) {
            const bool below = info.min && values[k] < *info.min;
            const bool above = info.max && values[k] > *info.max;
            const bool no_choice =
                info.kind == firn::ProgramParameter::Kind::Choice &&
                !(values[k] >= 0 && values[k] < static_cast<double>(info.names.size()));
            if (below || above || no_choice || values[k] != values[k])
                fail("parameter '" + info.name + "' cannot be " + short_text(values[k]) +
                     "; it is " + range_text(info));
        }
        const std::vector<firn::Scalar> before = call->scalars;
        try {
            for (size_t k = 0; k < info.arguments.size(); ++k)
                set_scalar(*call, static_cast<uint32_t>(info.arguments[k]),
                           firn::scalar_float(values[k % count], firn::f64));
        } catch (...) {
            call->scalars = before;
            throw;
        }
        settle(*call, before);
    });
}
