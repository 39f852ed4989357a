// Writes all that a host must know to run exported kernels, as JSON.
#include "apps/tool/export_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/program/walk_steps.h"

namespace firn::tool {
namespace {

using Json = nlohmann::ordered_json;

// Offsets of buffers in one block of memory: Vulkan allows devices to ask for so much.
constexpr int64_t kScratchAlignment = 256;

Json shape_json(const Shape& shape) {
    Json out = Json::array();
    for (const Size& size : shape) out.push_back(size.text());
    return out;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

const char* kind_name(ProgramParameter::Kind kind) {
    using Kind = ProgramParameter::Kind;
    switch (kind) {
        case Kind::Float: return "float";
        case Kind::Int: return "int";
        case Kind::Bool: return "bool";
        case Kind::Choice: return "choice";
        case Kind::Vector: return "vector";
        case Kind::Colour: return "colour";
        case Kind::Angle: return "angle";
    }
    throw InternalError("internal error: unknown kind of parameter");
}

Json parameters_json(const SavedProgram& saved) {
    Json out = Json::array();
    for (const ProgramParameter& each : saved.parameters)
        out.push_back({{"name", each.name},
                       {"kind", kind_name(each.kind)},
                       {"arguments", each.arguments},
                       {"value", each.value},
                       {"min", optional_json(each.min)},
                       {"max", optional_json(each.max)},
                       {"unit", each.unit},
                       {"choices", each.names},
                       {"help", each.help}});
    return out;
}

Json arguments_json(const SavedProgram& saved, const Program& program) {
    Json out = Json::array();
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const ArgumentInfo& each = program.arguments[k];
        Json row{{"name", each.name},
                 {"type", each.dtype.name()},
                 {"shape", shape_json(each.shape)},
                 {"scalar", each.scalar}};
        if (each.scalar)
            row["value"] = text(saved.scalars[k]);
        else
            row["buffer"] = each.buffer;
        out.push_back(row);
    }
    return out;
}

Json results_json(const Program& program) {
    Json out = Json::array();
    for (size_t k = 0; k < program.results.size(); ++k) {
        const ResultInfo& each = program.results[k];
        Json row{{"type", each.dtype.name()},
                 {"shape", shape_json(each.shape)},
                 {"buffer", each.buffer}};
        if (k < first_result(program)) row["value_of"] = program.data_sizes[k].size.text();
        out.push_back(row);
    }
    return out;
}

const char* role_name(BufferRole role) {
    switch (role) {
        case BufferRole::Argument: return "argument";
        case BufferRole::Result: return "result";
        case BufferRole::Temporary: return "temporary";
        case BufferRole::Constant: return "constant";
    }
    throw InternalError("internal error: unknown role of a buffer");
}

Json buffers_json(const Program& program, const ExportedFiles& files) {
    Json out = Json::array();
    for (size_t k = 0; k < program.buffers.size(); ++k) {
        const BufferInfo& each = program.buffers[k];
        Json row{{"name", each.name},
                 {"role", role_name(each.role)},
                 {"type", each.dtype.name()},
                 {"elements", each.elements.text()},
                 {"bytes", each.bytes().text()}};
        if (const auto file = files.constants.find(k); file != files.constants.end())
            row["file"] = file->second;
        out.push_back(row);
    }
    return out;
}

/// One block of memory for all temporaries, none of which shares memory with another.
Json scratch_json(const Program& program) {
    Json offsets = Json::array();
    Size end;
    for (size_t k = 0; k < program.buffers.size(); ++k) {
        const BufferInfo& each = program.buffers[k];
        if (each.role != BufferRole::Temporary) continue;
        offsets.push_back({{"buffer", k}, {"offset", end.text()}});
        end += ceil_div(each.bytes(), kScratchAlignment) * Size(kScratchAlignment);
    }
    return {{"bytes", end.text()}, {"temporaries", offsets}};
}

const char* operation_name(HostOp op) {
    switch (op) {
        case HostOp::Constant: return "constant";
        case HostOp::Argument: return "argument";
        case HostOp::Size: return "size";
        case HostOp::Neg: return "neg";
        case HostOp::Abs: return "abs";
        case HostOp::Floor: return "floor";
        case HostOp::Sqrt: return "sqrt";
        case HostOp::Rsqrt: return "rsqrt";
        case HostOp::Rcp: return "rcp";
        case HostOp::Exp: return "exp";
        case HostOp::Exp2: return "exp2";
        case HostOp::Log: return "log";
        case HostOp::Log2: return "log2";
        case HostOp::Sin: return "sin";
        case HostOp::Cos: return "cos";
        case HostOp::Tan: return "tan";
        case HostOp::Tanh: return "tanh";
        case HostOp::Add: return "add";
        case HostOp::Sub: return "sub";
        case HostOp::Mul: return "mul";
        case HostOp::Div: return "div";
        case HostOp::Min: return "min";
        case HostOp::Max: return "max";
        case HostOp::Pow: return "pow";
    }
    throw InternalError("internal error: unknown operation of the host");
}

Json host_numbers_json(const Program& program) {
    Json out = Json::array();
    for (const HostScalar& each : program.host_scalars) {
        Json row{{"operation", operation_name(each.op)}};
        if (each.op == HostOp::Constant) row["value"] = each.constant;
        if (each.op == HostOp::Argument) row["argument"] = each.argument;
        if (each.op == HostOp::Size) row["value"] = each.size.text();
        Json operands = Json::array();
        for (int operand : {each.a, each.b})
            if (operand >= 0) operands.push_back(operand);
        if (!operands.empty()) row["of"] = operands;
        out.push_back(row);
    }
    return out;
}

const char* form_name(BindingForm form) {
    switch (form) {
        case BindingForm::Storage: return "storage buffer";
        case BindingForm::View: return "storage texel buffer";
        case BindingForm::Address: return "address";
    }
    throw InternalError("internal error: unknown form of binding");
}

/// The place of a binding in the language.
void place_binding(Json& row, Language language, BindingForm form, size_t k) {
    const bool texels = form == BindingForm::View;
    const std::string number = std::to_string(k);
    if (language == Language::Hlsl) row["register"] = "u" + number;
    if (language == Language::Msl) row[texels ? "texture" : "buffer"] = k;
}

Json bindings_json(const KernelInfo& kernel, Language language) {
    Json out = Json::array();
    for (size_t k = 0; k < kernel.bindings.size(); ++k) {
        const BindingInfo& each = kernel.bindings[k];
        Json row{{"form", form_name(each.form)},
                 {"type", each.dtype.name()},
                 {"width", each.width},
                 {"written", each.written}};
        if (each.form != BindingForm::Address) row["binding"] = k;
        place_binding(row, language, each.form, k);
        out.push_back(row);
    }
    return out;
}

Json parameter_block_json(const KernelInfo& kernel, Language language) {
    // Addresses of buffers, behind the others, are among them.
    const std::vector<DType>& types = kernel.param_types;
    const std::vector<uint32_t> offsets = param_offsets(types);
    Json members = Json::array();
    for (size_t k = 0; k < types.size(); ++k)
        members.push_back({{"type", types[k].name()}, {"offset", offsets[k]}});
    Json out{{"place", kernel.params_in_buffer ? "uniform buffer" : "push constants"},
             {"bytes", offsets.back()},
             {"members", members}};
    const size_t behind = kernel.bindings.size();
    if (kernel.params_in_buffer) out["binding"] = behind;
    if (language == Language::Hlsl) out["register"] = "b" + std::to_string(behind);
    if (language == Language::Msl) out["buffer"] = behind;
    return out;
}

Json needs_json(const KernelInfo& kernel) {
    const DeviceNeeds& needs = kernel.needs;
    Json out = Json::array();
    for (const auto& [needed, name] : {std::pair{needs.f64, "f64"},
                                       {needs.i64, "i64"},
                                       {needs.bits_16, "16-bit storage"},
                                       {needs.bits_8, "8-bit storage"},
                                       {needs.subgroups, "subgroups"},
                                       {needs.wide_atomics, "64-bit atomics"},
                                       {needs.float_atomics, "float atomics"},
                                       {needs.addresses, "buffer addresses"},
                                       {kernel.keeps_special_floats, "special floats are kept"}})
        if (needed) out.push_back(name);
    return out;
}

Json kernels_json(const Program& program, Language language, const ExportedFiles& files) {
    Json out = Json::array();
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const KernelInfo& kernel = program.kernels[k];
        Json row{{"name", kernel.name}};
        if (const auto file = files.kernels.find(k); file != files.kernels.end())
            row["file"] = file->second;
        else
            row["error"] = files.errors.at(k);
        row["entry"] = entry_of(language);
        row["lines"] = kernel.lines;
        row["group_size"] = kernel.group_size;
        row["shared_bytes"] = kernel.shared_bytes;
        row["bindings"] = bindings_json(kernel, language);
        row["parameters"] = parameter_block_json(kernel, language);
        row["needs"] = needs_json(kernel);
        out.push_back(row);
    }
    return out;
}

/// The values of a dispatch's parameters: a size, an argument or a number of the host; behind them
/// the addresses of buffers.
Json values_json(const Program& program, const DispatchStep& dispatch) {
    const KernelInfo& kernel = program.kernels[static_cast<size_t>(dispatch.kernel)];
    const std::vector<uint32_t> offsets = param_offsets(kernel.param_types);
    const int arguments = static_cast<int>(program.arguments.size());
    Json out = Json::array();
    for (size_t k = 0; k < dispatch.params.size(); ++k) {
        const ParamInfo& param = dispatch.params[k];
        Json row{{"offset", offsets[k]}, {"type", param.dtype.name()}};
        if (param.scalar < 0) {
            row["name"] = param.size.text();
            row["value"] = param.size.text();
        } else if (param.scalar < arguments) {
            row["name"] = program.arguments[static_cast<size_t>(param.scalar)].name;
            row["argument"] = param.scalar;
        } else {
            row["name"] = "host number " + std::to_string(param.scalar - arguments);
            row["host_number"] = param.scalar - arguments;
        }
        out.push_back(row);
    }
    size_t next = dispatch.params.size();
    for (size_t k = 0; k < kernel.bindings.size(); ++k) {
        if (kernel.bindings[k].form != BindingForm::Address) continue;
        out.push_back({{"offset", offsets[next]},
                       {"type", kernel.param_types[next].name()},
                       {"name", "address"},
                       {"address_of_buffer", dispatch.buffers[k]}});
        ++next;
    }
    return out;
}

/// Writes steps in order, with the barriers of an outline: the first step of a loop's body, and the
/// first behind a loop, have one too.
class StepsWriter {
  public:
    explicit StepsWriter(const Program& program)
        : program_(program), hazards_(outline_barriers(program)) {}

    Json steps(const std::vector<Step>& steps) {
        Json out = Json::array();
        for (const Step& step : steps) {
            if (const auto* repeat = std::get_if<RepeatStep>(&step.step))
                out.push_back(loop(*repeat));
            else
                out.push_back(single(step));
        }
        return out;
    }

  private:
    static std::vector<bool> outline_barriers(const Program& program);

    Json loop(const RepeatStep& repeat) {
        must_wait_ = true;
        Json body = steps(repeat.body);
        must_wait_ = true;
        Json rotation = Json::array();
        for (const auto& [first, second] : repeat.rotation)
            rotation.push_back(Json::array({first, second}));
        Json out{{"step", "repeat"},
                 {"times", repeat.trips.text()},
                 {"iteration", repeat.induction},
                 {"body", std::move(body)},
                 {"rotation", rotation}};
        if (repeat.alive >= 0) out["while"] = repeat.alive;
        if (!repeat.never_ended.empty()) out["error_if_not_ended"] = repeat.never_ended;
        return out;
    }

    Json single(const Step& step) {
        const bool barrier = hazards_.at(next_++) || std::exchange(must_wait_, false);
        if (const auto* copy = std::get_if<CopyStep>(&step.step))
            return {{"step", "copy"},
                    {"barrier_before", barrier},
                    {"source", copy->source},
                    {"target", copy->target}};
        const auto& dispatch = std::get<DispatchStep>(step.step);
        Json groups = Json::array();
        for (const Size& size : dispatch.groups) groups.push_back(size.text());
        Json out{{"step", "dispatch"},
                 {"barrier_before", barrier},
                 {"kernel", program_.kernels[static_cast<size_t>(dispatch.kernel)].name},
                 {"buffers", dispatch.buffers},
                 {"groups", groups},
                 {"parameters", values_json(program_, dispatch)}};
        if (dispatch.sizes_binding >= 0)
            out["indirect"] = {
                {"buffer", dispatch.buffers[static_cast<size_t>(dispatch.sizes_binding)]},
                {"element", dispatch.sizes_groups}};
        return out;
    }

    const Program& program_;
    std::vector<bool> hazards_;  // by dispatch and copy, in order
    size_t next_ = 0;
    bool must_wait_ = false;
};

std::vector<bool> StepsWriter::outline_barriers(const Program& program) {
    std::vector<bool> out;
    for (const FlatStep& step : outline(program).steps) out.push_back(step.barrier_before);
    return out;
}

Json assumptions_json(const Form& form) {
    Json exact = Json::object(), divisors = Json::object(), largest = Json::object(),
         most = Json::array(), guards = Json::array();
    for (const auto& [name, value] : form.facts.exact) exact[name] = value;
    for (const auto& [name, value] : form.facts.divisors) divisors[name] = value;
    for (const auto& [name, value] : form.facts.largest) largest[name] = value;
    for (const AssumedSize& each : form.program->assumed)
        most.push_back({{"size", each.size.text()}, {"most", each.most}});
    for (const Guard& each : form.program->guards)
        guards.push_back(
            {{"left", each.left.text()}, {"right", each.right.text()}, {"message", each.message}});
    return {{"equal", exact},
            {"multiples", divisors},
            {"at_most", largest},
            {"limits", most},
            {"guards", guards}};
}

}  // namespace

std::string export_json(const SavedProgram& saved, const Form& form, Language language,
                        const ExportedFiles& files) {
    const Program& program = *form.program;
    Json out{{"program", saved.name},
             {"device", device_text(program)},
             {"symbols", symbols_of(program)},
             {"assumes", assumptions_json(form)},
             {"parameters", parameters_json(saved)},
             {"arguments", arguments_json(saved, program)},
             {"results", results_json(program)},
             {"buffers", buffers_json(program, files)},
             {"scratch", scratch_json(program)},
             {"host_numbers", host_numbers_json(program)},
             {"kernels", kernels_json(program, language, files)},
             {"steps", StepsWriter(program).steps(program.steps)}};
    // Names are those of files and lines, whatever their bytes.
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace firn::tool
