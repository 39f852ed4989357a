// Placed and mapped kernel code as LLVM IR: the function around the root region.
#include "compiler/target/native/native.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/base/thread_sanitizer.h"
#include "compiler/host/processor.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/native/checks.h"
#include "compiler/target/native/forms.h"
#include "compiler/target/native/functions.h"
#include "compiler/target/native/ir_run.h"
#include "compiler/target/native/kept.h"
#include "compiler/target/native/own_memory.h"
#include "compiler/target/native/regions.h"
#include "compiler/target/native/turns.h"

namespace firn {
namespace native {
namespace {

/// The largest memory of its own that a kernel's group has, on the stack of its thread.
constexpr uint64_t kMostOwnBytes = 4u << 20;

/// The alignment that the ABI gives to the stack.
constexpr int kAlignedByAbi = 16;

/// The attribute by which no vector that waits on the stack lies across two lines of the caches.
/// Without it LLVM aligns the stack for variables, and not for what its registers have no room for.
std::string stack_of(const DeviceProfile& profile) {
    const int bytes = vector_facts(profile).bits / 8;
    return bytes > kAlignedByAbi ? " alignstack=" + std::to_string(bytes) : "";
}

int invocations(const KernelCode& code) {
    return static_cast<int>(code.group_size[0] * code.group_size[1] * code.group_size[2]);
}

/// Invocations of a group depend on one another beyond their subgroup.
bool runs_in_step(const KernelCode& code) {
    const auto waits = [](const KernelNode& n) { return n.op == KernelOp::Barrier; };
    const auto shared = [](const KernelBuffer& b) { return b.space == MemorySpace::Shared; };
    return std::any_of(code.nodes.begin(), code.nodes.end(), waits) ||
           std::any_of(code.buffers.begin(), code.buffers.end(), shared);
}

/// The lanes of a vector: those of a subgroup, or all of a group that cannot do with less.
int lanes_of(const KernelCode& code, const DeviceProfile& profile, bool in_turns) {
    const int all = invocations(code);
    return runs_in_step(code) && !in_turns ? all
                                           : std::min(all, static_cast<int>(profile.subgroup_size));
}

/// Loads what the host gave: `%name = load type, ptr ...` of the call.
std::string field(IrRun& run, const std::string& type, int64_t offset) {
    const std::string place =
        emit(run, "getelementptr i8, ptr %call, i64 " + std::to_string(offset));
    return emit(run, "load " + type + ", ptr " + place);
}

std::string parameter(IrRun& run, const std::string& params, size_t k, DType dtype) {
    const std::string place = emit(
                          run, "getelementptr i64, ptr " + params + ", i64 " + std::to_string(k)),
                      word = emit(run, "load i64, ptr " + place), type = scalar_type(dtype);
    if (type == "i64") return word;
    if (type == "double") return emit(run, "bitcast i64 " + word + " to double");
    if (type == "i1") return emit(run, "icmp ne i64 " + word + ", 0");
    const std::string bits = emit(run, "trunc i64 " + word + " to i32");
    return type == "float" ? emit(run, "bitcast i32 " + bits + " to float") : bits;
}

void read_parameters(IrRun& run, const std::string& params) {
    std::vector<IrValue> values(run.code.params.size());
    size_t next = 0;
    std::string last;
    for (size_t k = 0; k < values.size(); ++k) {
        const ParamInfo& param = run.code.params[k];
        if (run.code.on_device(param)) continue;
        last = parameter(run, params, next++, param.dtype);
        values[k] = {last, false};
    }
    // Sizes that only the device knows, from the element that the last parameter names on.
    int64_t size = 0;
    for (size_t k = 0; k < values.size(); ++k) {
        if (!run.code.on_device(run.code.params[k])) continue;
        const std::string first = emit(run, "sext i32 " + last + " to i64"),
                          at = emit(run, "add i64 " + first + ", " + std::to_string(size++)),
                          place =
                              emit(run, "getelementptr i32, ptr " +
                                            run.memory[static_cast<size_t>(run.code.sizes_buffer)] +
                                            ", i64 " + at);
        check_own_load(run, run.code.sizes_buffer, at);
        values[k] = {emit(run, "load i32, ptr " + place), false};
    }
    for (NodeId id : run.code.nodes.ids())
        if (const auto* attr = run.code[id].get_if<ParamAttr>())
            run.values[id] = {values[static_cast<size_t>(attr->param)]};
}

void read_memory(IrRun& run, const std::string& buffers) {
    const OwnMemory own = own_memory(run.code, run.lanes * run.turns);
    if (own.bytes > kMostOwnBytes)
        throw UserError("kernel " + run.code.name + ": the arrays of one group take " +
                        std::to_string(own.bytes) + " bytes and a thread has " +
                        std::to_string(kMostOwnBytes) +
                        " for them; make them or the group smaller");
    if (own.bytes)
        run.allocas += "  %own = alloca [" + std::to_string(own.bytes) + " x i8], align 64\n";
    for (size_t k = 0; k < run.code.buffers.size(); ++k) {
        if (run.code.buffers[k].space != MemorySpace::Bound) {
            run.memory.push_back(
                emit(run, "getelementptr i8, ptr %own, i64 " + std::to_string(own.offsets[k])));
            continue;
        }
        const std::string place =
            emit(run, "getelementptr ptr, ptr " + buffers + ", i64 " + std::to_string(k));
        run.memory.push_back(emit(run, "load ptr, ptr " + place));
    }
}

/// The index of each invocation along a dimension. `first` is the number of lane 0's in the group.
IrValue invocation_index(IrRun& run, int dim, const std::string& first) {
    const std::array<uint32_t, 3>& size = run.code.group_size;
    if (size[dim] == 1) return {"0", false};
    const uint32_t before = dim == 0 ? 1 : dim == 1 ? size[0] : size[0] * size[1];
    const bool varying = size[0] % static_cast<uint32_t>(run.lanes) != 0 || dim == 0;
    if (!varying || size[0] % static_cast<uint32_t>(run.lanes) == 0) {
        const std::string divided = emit(run, "udiv i32 " + first + ", " + std::to_string(before));
        const std::string index =
            emit(run, "urem i32 " + divided + ", " + std::to_string(size[dim]));
        return varying ? IrValue{index, true, true, 1} : IrValue{index, false};
    }
    const std::string words = vector_of(run, "i32"),
                      number = as_vector(run, {first, true, true, 1}, i32),
                      divided = emit(run, "udiv " + words + " " + number + ", " +
                                              splat(run, std::to_string(before), "i32"));
    return {emit(run, "urem " + words + " " + divided + ", " +
                          splat(run, std::to_string(size[dim]), "i32")),
            true};
}

/// The values of the ranges outside loops.
void name_ranges(IrRun& run, const std::string (&group)[3], const std::string& first) {
    for (NodeId id : run.code.nodes.ids()) {
        const auto* attr = run.code[id].get_if<RangeId>();
        if (!attr) continue;
        const Range& range = run.code[*attr];
        switch (range.kind) {
            case RangeKind::Group: run.values[id] = {{group[range.dim], false}}; break;
            case RangeKind::Invocation:
                run.values[id] = {invocation_index(run, range.dim, first)};
                break;
            case RangeKind::Subgroup:
                if (range.dim == 0) {
                    const bool one = run.lanes <= run.subgroup;
                    IrValue lane{"0", true, true, 1};
                    if (run.lanes == 1) lane = {"0", false};
                    if (!one)
                        lane = {emit(run, "urem " + vector_of(run, "i32") + " " +
                                              as_vector(run, lane, i32) + ", " +
                                              splat(run, std::to_string(run.subgroup), "i32")),
                                true};
                    run.values[id] = {lane};
                } else if (run.lanes <= run.subgroup) {
                    run.values[id] = {
                        {emit(run, "udiv i32 " + first + ", " + std::to_string(run.subgroup)),
                         false}};
                } else {
                    run.values[id] = {
                        {emit(run, "udiv " + vector_of(run, "i32") + " " +
                                       as_vector(run, {first, true, true, 1}, i32) + ", " +
                                       splat(run, std::to_string(run.subgroup), "i32")),
                         true}};
                }
                break;
            case RangeKind::Grid:
                throw InternalError("internal error: kernel " + run.code.name +
                                    " is not mapped, and no code can be made of it");
            case RangeKind::Serial: break;
        }
    }
}

void write_subgroup(IrRun& run, const std::string (&group)[3], const std::string& first) {
    const int all = invocations(run.code);
    name_ranges(run, group, first);
    if (all % run.lanes != 0) {
        const std::string words = vector_of(run, "i32");
        run.mask =
            emit(run, "icmp ult " + words + " " + as_vector(run, {first, true, true, 1}, i32) +
                          ", " + splat(run, std::to_string(all), "i32"));
    }
    write_region(run, kRoot);
    run.mask.clear();
}

void write_group(IrRun& run) {
    std::string count[3], group[3];
    for (int dim = 0; dim < 3; ++dim)
        count[dim] =
            emit(run, "zext i32 " + run.arguments[static_cast<size_t>(dim)].text + " to i64");
    run.arguments.clear();
    run.group = "%group";
    counted_loop(run, "i64", "%group", "%first", "%last", [&](const std::string&) {
        const std::string rest = emit(run, "udiv i64 %group, " + count[0]),
                          x = emit(run, "urem i64 %group, " + count[0]),
                          y = emit(run, "urem i64 " + rest + ", " + count[1]),
                          z = emit(run, "udiv i64 " + rest + ", " + count[1]);
        group[0] = emit(run, "trunc i64 " + x + " to i32");
        group[1] = emit(run, "trunc i64 " + y + " to i32");
        group[2] = emit(run, "trunc i64 " + z + " to i32");
        if (run.turns > 1)
            return write_in_turns(
                run, [&](const std::string& first) { name_ranges(run, group, first); });
        const int subgroups = (invocations(run.code) + run.lanes - 1) / run.lanes;
        if (subgroups == 1) return write_subgroup(run, group, "0");
        counted_loop(run, "i32", "%subgroup", "0", std::to_string(subgroups),
                     [&](const std::string&) {
                         const std::string first =
                             emit(run, "mul i32 %subgroup, " + std::to_string(run.lanes));
                         write_subgroup(run, group, first);
                     });
    });
}

}  // namespace
}  // namespace native

std::string emit_native(const KernelCode& code, const DeviceProfile& profile,
                        const EmitOptions& options) {
    using namespace native;
    std::map<std::string, int> functions;
    IrRun run{code, profile};
    run.checks = options.checks_accesses;
    run.subgroup = static_cast<int>(profile.subgroup_size);
    const bool in_turns = runs_in_step(code) && can_take_turns(code, profile);
    run.lanes = lanes_of(code, profile, in_turns);
    if (in_turns) run.turns = invocations(code) / run.lanes;
    run.contract = rules_of(profile).fuses_products;
    run.functions = &functions;
    run.values.resize(code.nodes.size());
    run.sums.resize(code.nodes.size());
    find_forms(run);
    find_kept(run);
    const std::string buffers = field(run, "ptr", 0), params = field(run, "ptr", 8);
    std::vector<IrValue> counts;
    for (int dim = 0; dim < 3; ++dim) counts.push_back({field(run, "i32", 16 + 4 * dim), false});
    run.cached = field(run, "i64", 32);
    read_memory(run, buffers);
    if (run.checks) read_sizes(run);
    read_parameters(run, params);
    name_constants(run);
    run.arguments = std::move(counts);
    write_group(run);
    if (run.checks) write_fault_exit(run);
    if (run.streams) {
        run.declared.insert("declare void @llvm.x86.sse.sfence()");
        emit_effect(run, "call void @llvm.x86.sse.sfence()");
    }
    const std::string definitions = function_definitions(functions, run, run.declared);
    std::string out = "; kernel " + code.name + "\n\n";
    for (const std::string& declared : run.declared) out += declared + "\n";
    const std::string bits = std::to_string(32 * profile.subgroup_size);
    out +=
        "\ndefine void @firn_kernel(ptr noalias readonly %call, i64 %first, i64 %last) #0 {\n"
        "entry:\n" +
        run.allocas + run.text + "  ret void\n}\n\n" + definitions +
        (run.checks ? fault_function() : "") + "\nattributes #0 = { nounwind" + stack_of(profile) +
        (kFindsRaces ? " sanitize_thread" : "") + " \"min-legal-vector-width\"=\"" + bits +
        "\" \"prefer-vector-width\"=\"" + bits + "\" }\n";
    if (run.streams) out += "!0 = !{i32 1}\n";
    if (run.weighs) out += "!1 = !{!\"branch_weights\", i32 1000, i32 1}\n";
    return out;
}

}  // namespace firn
