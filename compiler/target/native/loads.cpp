// Loads as LLVM IR.
#include "compiler/target/native/loads.h"

#include "compiler/base/error.h"
#include "compiler/host/processor.h"
#include "compiler/target/native/access.h"
#include "compiler/target/native/elements.h"
#include "compiler/target/native/regions.h"

namespace firn::native {
namespace {

/// The name of the instruction that gathers a whole register of such elements, or empty. LLVM makes
/// two of it where it knows that a place is no negative number, which it widens to 64 bits.
std::string gather_of_words(const IrRun& run, const Access& a) {
    const int bits = vector_facts(run.profile).bits;
    if (bits != 512 || 32 * run.lanes != bits || element_bytes(a.buffer) != 4) return {};
    return std::string("@llvm.x86.avx512.mask.gather.dp") +
           (memory_type(a.dtype) == "float" ? "s" : "i") + ".512";
}

std::string gather_at_once(IrRun& run, const Access& a, int k) {
    const std::string type = memory_type(a.dtype), vector = vector_of(run, type),
                      at = vector_of(run, "ptr"), bits = vector_of(run, "i1"), mask = running(run),
                      bytes = std::to_string(element_bytes(a.buffer));
    if (const std::string name = gather_of_words(run, a); !name.empty()) {
        const std::string words = vector_of(run, "i32"), base = base_behind(run, a, k);
        run.declared.insert("declare " + vector + " " + name + "(" + vector + ", ptr, " + words +
                            ", " + bits + ", i32)");
        return emit(run, "call " + vector + " " + name + "(" + vector + " zeroinitializer, ptr " +
                             base + ", " + words + " " + as_vector(run, a.index, i32) + ", " +
                             bits + " " + mask + ", i32 " + bytes + ")");
    }
    const std::string name =
        "@llvm.masked.gather." + suffix_of(vector) + ".v" + std::to_string(run.lanes) + "p0";
    run.declared.insert("declare " + vector + " " + name + "(" + at + ", i32, " + bits + ", " +
                        vector + ")");
    return emit(run, "call " + vector + " " + name + "(" + at + " " + places(run, a, k) + ", i32 " +
                         bytes + ", " + bits + " " + mask + ", " + vector + " zeroinitializer)");
}

/// Reads the part `k` of the elements of every lane, one lane after the other.
std::string gather(IrRun& run, const Access& a, const IrValue& index, int k) {
    const std::string type = memory_type(a.dtype), vector = vector_of(run, type);
    std::string out = "poison";
    for (int lane = 0; lane < run.lanes; ++lane) {
        const std::string place = address(run, a, lane_of(run, index, i32, lane), k),
                          one = emit(run, "load " + type + ", ptr " + place + alignment(a));
        out = emit(run, "insertelement " + vector + " " + out + ", " + type + " " + one + ", i64 " +
                            std::to_string(lane));
    }
    return out;
}

/// The lanes' elements lie side by side: `count` of them in memory, of which lane l has those from
/// l * stride on.
std::string part_of_row(IrRun& run, const std::string& row, const std::string& type, int count,
                        int stride, int k) {
    if (stride == 1) return row;
    std::string places;
    for (int lane = 0; lane < run.lanes; ++lane)
        places += (lane ? ", i32 " : "i32 ") + std::to_string(lane * stride + k);
    const std::string all = "<" + std::to_string(count) + " x " + type + ">";
    return emit(run, "shufflevector " + all + " " + row + ", " + all + " poison, <" +
                         std::to_string(run.lanes) + " x i32> <" + places + ">");
}

/// The longest stride of lanes whose whole row is loaded, of which most is not wanted.
constexpr int64_t kLongestStride = 4;

/// The parts of a load that is the same for all lanes.
std::vector<IrValue> load_once(IrRun& run, const Access& a) {
    check_elements(run, checked(run, a, a.index, a.width));
    std::vector<IrValue> parts;
    const std::string type = memory_type(a.dtype);
    for (int k = 0; k < a.width; ++k) {
        const std::string place = address(run, a, a.index.text, k),
                          raw = emit(run, "load " + type + ", ptr " + place + alignment(a));
        parts.push_back({from_memory(run, a.dtype, raw, false), false});
    }
    return parts;
}

/// All lanes run, and their elements make a row.
std::vector<IrValue> load_row(IrRun& run, const Access& a) {
    const auto stride = static_cast<int>(a.index.stride);
    const int count = (run.lanes - 1) * stride + a.width;
    check_elements(run, checked(run, a, {a.index.text}, count));
    const std::string type = memory_type(a.dtype),
                      all = "<" + std::to_string(count) + " x " + type + ">",
                      row = emit(run, "load " + all + ", ptr " + address(run, a, a.index.text) +
                                          alignment(a));
    std::vector<IrValue> parts;
    for (int k = 0; k < a.width; ++k)
        parts.push_back(
            {from_memory(run, a.dtype, part_of_row(run, row, type, count, stride, k), true), true});
    return parts;
}

/// Neighbours under a mask; other lanes have the `rest`, elements of memory.
std::vector<IrValue> load_masked(IrRun& run, const Access& a, const std::string& mask,
                                 const std::string& rest = "zeroinitializer") {
    check_lanes(run, checked(run, a, a.index, 1), mask, false);
    const std::string type = memory_type(a.dtype), vector = vector_of(run, type),
                      bits = vector_of(run, "i1"),
                      name = "@llvm.masked.load." + suffix_of(vector) + ".p0";
    run.declared.insert("declare " + vector + " " + name + "(ptr, i32, " + bits + ", " + vector +
                        ")");
    const std::string raw =
        emit(run, "call " + vector + " " + name + "(ptr " + address(run, a, a.index.text) +
                      ", i32 " + std::to_string(element_bytes(a.buffer)) + ", " + bits + " " +
                      mask + ", " + vector + " " + rest + ")");
    return {{from_memory(run, a.dtype, raw, true), true}};
}

/// Each lane's elements, wherever they are.
std::vector<IrValue> load_lanes(IrRun& run, const Access& a) {
    const bool at_once = gathers(run, a);
    const IrValue index = at_once ? a.index : safe_index(run, a);
    check_lanes(run, checked(run, a, index, a.width), run.mask, !at_once);
    std::vector<IrValue> parts;
    for (int k = 0; k < a.width; ++k) {
        const std::string raw = at_once ? gather_at_once(run, a, k) : gather(run, a, index, k);
        parts.push_back({from_memory(run, a.dtype, raw, true), true});
    }
    return parts;
}

/// The lanes have a small stride, and all of them run, or are neighbours.
bool makes_row(const IrRun& run, const Access& a, int64_t stride) {
    if (run.mask.empty()) return stride > 0 && stride <= kLongestStride;
    return stride == 1 && a.width == 1;
}
std::vector<IrValue> load_as_row(IrRun& run, const Access& a) {
    return run.mask.empty() ? load_row(run, a) : load_masked(run, a, run.mask);
}

/// The processor loads a vector under a mask by one instruction.
bool loads_under_masks(const IrRun& run, const Access& a) {
    return vector_facts(run.profile).loads_masked && element_bytes(a.buffer) >= 4;
}

/// The parts of a load that two blocks give, each by its function.
template <class First, class Second>
std::vector<IrValue> load_by_either(IrRun& run, const std::string& likely, DType dtype,
                                    const First& load_first, const Second& load_second) {
    const std::string row = new_label(run, "row"), lanes = new_label(run, "lanes"),
                      end = new_label(run, "loaded");
    jump_likely(run, likely, row, lanes);
    begin_block(run, row);
    const std::vector<IrValue> neighbours = load_first();
    const std::string from_row = run.block;
    emit_effect(run, "br label %" + end);
    begin_block(run, lanes);
    const std::vector<IrValue> others = load_second();
    const std::string from_lanes = run.block;
    emit_effect(run, "br label %" + end);
    begin_block(run, end);
    std::vector<IrValue> parts;
    for (size_t k = 0; k < neighbours.size(); ++k)
        parts.push_back(
            {emit(run, "phi " + type_of(run, dtype, true) + " [" + neighbours[k].text + ", %" +
                           from_row + "], [" + others[k].text + ", %" + from_lanes + "]"),
             true});
    return parts;
}

/// The lanes of a clamped index that are not clamped from a row, the others from the two elements
/// at the edges.
std::vector<IrValue> load_clamped(IrRun& run, const Access& a, const Access& row) {
    const std::string type = memory_type(a.dtype), vector = vector_of(run, type);
    const auto everywhere = [&](const std::string& index) {
        return splat(run,
                     emit(run, "load " + type + ", ptr " + address(run, a, index) + alignment(a)),
                     type);
    };
    const std::string is_low = emit(run, "icmp eq " + vector_of(run, "i32") + " " + a.index.text +
                                             ", " + splat(run, a.index.low, "i32"));
    if (run.checks) {
        const std::string outside = other_lanes(run, a.index.inside);
        check_elements(run, checked(run, a, {a.index.low}, 1),
                       any_of(run, lanes_of_both(run, outside, is_low)));
        check_elements(run, checked(run, a, {a.index.high}, 1),
                       any_of(run, lanes_of_both(run, outside, other_lanes(run, is_low))));
    }
    const std::string edges =
        emit(run, "select " + vector_of(run, "i1") + " " + is_low + ", " + vector + " " +
                      everywhere(a.index.low) + ", " + vector + " " + everywhere(a.index.high));
    return load_masked(run, row, a.index.inside, edges);
}

/// The lanes in which anything takes a loaded value, an i1 vector that is known here; empty: all.
std::string wanted_lanes(const IrRun& run, NodeId load) {
    const NodeId condition = run.wanted[load];
    if (!condition || run.values[condition].empty()) return {};
    const IrValue& wanted = run.values[condition][0];
    return wanted.is_vector() ? wanted.text : "";
}

/// A row where the lanes differ by a stride, which only the run knows.
std::vector<IrValue> load_row_or_lanes(IrRun& run, const Access& a, NodeId id) {
    const DType dtype = run.code[id].dtype;
    Access row = a;
    row.index = {a.index.first, true, true, a.index.stride};
    const auto load_each = [&] { return load_lanes(run, a); };
    if (a.width > 1 || a.index.stride > 1 || !loads_under_masks(run, a))
        return load_by_either(
            run, a.index.where, dtype, [&] { return load_as_row(run, row); }, load_each);
    const std::string lanes = lanes_of_both(run, run.mask, wanted_lanes(run, id));
    if (lanes.empty() && a.index.low.empty())
        return load_by_either(
            run, a.index.where, dtype, [&] { return load_row(run, row); }, load_each);
    if (lanes.empty())
        return load_by_either(
            run, a.index.where, dtype, [&] { return load_row(run, row); },
            [&] { return load_clamped(run, a, row); });
    // LLVM finds that lanes which a bound lets through are inside it, and drops the other block.
    const std::string others = lanes_of_both(run, lanes, other_lanes(run, a.index.inside));
    const std::string none = emit(run, "xor i1 " + any_of(run, others) + ", true");
    return load_by_either(
        run, none, dtype,
        [&] { return load_masked(run, row, lanes_of_both(run, lanes, a.index.inside)); },
        load_each);
}

/// Asks whether the lanes of an index that follows from positions are neighbours.
void find_row(IrRun& run, Access& a) {
    const std::string words = vector_of(run, "i32");
    a.index.stride = a.width;
    a.index.first = lane_of(run, a.index, i32, 0);
    a.index.inside =
        emit(run, "icmp eq " + words + " " + a.index.text + ", " +
                      as_vector(run, {a.index.first, true, true, a.index.stride}, i32));
    a.index.where = emit(run, "xor i1 " + any_of(run, other_lanes(run, a.index.inside)) + ", true");
}

}  // namespace

void write_load(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    Access a = access_of(run, id, n.dtype);
    if (a.index.is_vector() && a.index.first.empty() && run.mask.empty() &&
        run.positions[n.args[0]])
        find_row(run, a);
    if (!a.index.varying)
        run.values[id] = load_once(run, a);
    else if (a.index.linear && makes_row(run, a, a.index.stride))
        run.values[id] = load_as_row(run, a);
    else if (!a.index.first.empty() && makes_row(run, a, a.index.stride))
        run.values[id] = load_row_or_lanes(run, a, id);
    else
        run.values[id] = load_lanes(run, a);
    // Elements of another type than the kernel uses are converted as they are.
    ensure(a.dtype == n.dtype, "a load gives another type than its memory has");
}

std::string load_of_each_lane(IrRun& run, NodeId id) {
    return load_lanes(run, access_of(run, id, run.code[id].dtype))[0].text;
}

}  // namespace firn::native
