// Loads, stores, atomics and the kernel's own memory as LLVM IR.
#include "compiler/target/native/memory.h"

#include <algorithm>
#include <bit>

#include "compiler/base/error.h"
#include "compiler/host/processor.h"
#include "compiler/target/native/checks.h"
#include "compiler/target/native/halves.h"
#include "compiler/target/native/regions.h"

namespace firn::native {
namespace {

/// The type of an element in memory, as which it is loaded.
std::string memory_type(DType dtype) {
    switch (dtype.type) {
        case Type::F32: return "float";
        case Type::F64: return "double";
        case Type::F16:
        case Type::BF16: return half_type(dtype);
        case Type::I16:
        case Type::U16: return "i16";
        case Type::I8:
        case Type::U8: return "i8";
        case Type::I32:
        case Type::U32:
        case Type::Bool: return "i32";
        case Type::I64:
        case Type::U64: return "i64";
    }
    throw InternalError("internal error: a type without LLVM IR");
}

std::string of_lanes(const IrRun& run, const std::string& scalar, bool varying) {
    return varying ? vector_of(run, scalar) : scalar;
}

/// The element of memory as a value of its type in kernels.
std::string from_memory(IrRun& run, DType dtype, const std::string& raw, bool varying) {
    const std::string from = of_lanes(run, memory_type(dtype), varying),
                      to = type_of(run, dtype, varying);
    switch (dtype.type) {
        case Type::F16:
        case Type::BF16: return widened_half(run, dtype, raw, varying);
        case Type::I16:
        case Type::I8: return emit(run, "sext " + from + " " + raw + " to " + to);
        case Type::U16:
        case Type::U8: return emit(run, "zext " + from + " " + raw + " to " + to);
        case Type::Bool: {
            const std::string zero = varying ? splat(run, "0", "i32") : "0";
            return emit(run, "icmp ne " + from + " " + raw + ", " + zero);
        }
        default: return raw;
    }
}

std::string to_memory(IrRun& run, DType dtype, const std::string& value, bool varying) {
    const std::string to = of_lanes(run, memory_type(dtype), varying),
                      from = type_of(run, dtype, varying);
    switch (dtype.type) {
        case Type::F16:
        case Type::BF16: return narrowed_half(run, dtype, value, varying);
        case Type::I16:
        case Type::I8:
        case Type::U16:
        case Type::U8: return emit(run, "trunc " + from + " " + value + " to " + to);
        case Type::Bool: return emit(run, "zext " + from + " " + value + " to " + to);
        default: return value;
    }
}

/// An access by the lanes that run: the place of each lane, in elements of its memory.
struct Access {
    const KernelBuffer& buffer;
    std::string pointer;  // of the buffer
    DType dtype;          // of elements as the kernel uses them
    IrValue index;        // i32 before it is widened; of a private array, of the lane's element
    int width = 1;
    int64_t behind = 0;  // elements from the index on
    NodeId node = {};
};

/// The access of `width` elements from an index of its own on, for checks.
CheckedAccess checked(const IrRun& run, const Access& a, const IrValue& index, int width) {
    return {a.node, run.code[a.node].as<AccessAttr>().buffer, index, a.behind, width};
}

/// Takes a constant out of the index, so that neighbours share the rest of their addresses.
void split_index(IrRun& run, const KernelNode& index, Access& a) {
    if (index.op != KernelOp::Add || index.dtype != i32) return;
    for (size_t k = 0; k < 2; ++k) {
        const auto* constant = run.code[index.args[k]].get_if<Scalar>();
        if (!constant || constant->i <= 0 || constant->i > kLargestOffset) continue;
        const IrValue rest = value_of(run, index.args[1 - k]);
        if (rest.is_vector() || rest.text == "poison") return;
        a.index = rest;
        a.behind = constant->i;
        return;
    }
}

/// Checks the index of a private array before it is spread over lanes, which may not fit an i32.
void check_row_of_lanes(IrRun& run, const Access& a) {
    if (!run.checks) return;
    const CheckedAccess access = checked(run, a, a.index, a.width);
    std::string& elements = run.elements[static_cast<size_t>(access.buffer)];
    const std::string of_all_lanes = elements;
    elements = std::to_string(a.buffer.elements.constant());
    check_lanes(run, access, run.mask, false);
    elements = of_all_lanes;
}

Access access_of(IrRun& run, NodeId id, DType used) {
    const KernelNode& n = run.code[id];
    const auto& attr = n.as<AccessAttr>();
    const KernelBuffer& buffer = run.code.buffers[attr.buffer];
    Access out{buffer,
               run.memory[attr.buffer],
               holds_bits(buffer, used) ? used : buffer.dtype,
               value_of(run, n.args[0]),
               attr.width,
               0,
               id};
    if (buffer.space != MemorySpace::Private || run.lanes == 1) {
        split_index(run, run.code[n.args[0]], out);
        return out;
    }
    out.index.first.clear();
    check_row_of_lanes(run, out);
    // Element k of lane l is at k * lanes + l.
    const std::string lanes = std::to_string(run.lanes);
    if (out.index.is_vector()) {
        const std::string words = vector_of(run, "i32");
        const std::string scaled =
            emit(run, "mul " + words + " " + out.index.text + ", " + splat(run, lanes, "i32"));
        out.index.text = emit(
            run, "add " + words + " " + scaled + ", " + as_vector(run, {"0", true, true, 1}, i32));
        return out;
    }
    out.index.text = emit(run, "mul i32 " + out.index.text + ", " + lanes);
    out.index.stride = out.index.stride * run.lanes + 1;
    out.index.varying = out.index.linear = true;
    return out;
}

/// The address of the element `index` (i32).
std::string address(IrRun& run, const Access& a, const std::string& index, int64_t more = 0) {
    std::string place = emit(run, "sext i32 " + index + " to i64");
    more += a.behind;
    if (more) place = emit(run, "add i64 " + place + ", " + std::to_string(more));
    return emit(run,
                "getelementptr " + memory_type(a.dtype) + ", ptr " + a.pointer + ", i64 " + place);
}

std::string alignment(const Access& a) {
    return ", align " + std::to_string(element_bytes(a.buffer));
}

/// The index of each lane where a lane that does not run may not read: of element 0 then.
IrValue safe_index(IrRun& run, const Access& a) {
    if (run.mask.empty()) return a.index;
    const std::string words = vector_of(run, "i32"),
                      zero = splat(run, std::to_string(-a.behind), "i32"),
                      chosen = emit(run, "select " + vector_of(run, "i1") + " " + run.mask + ", " +
                                             words + " " + as_vector(run, a.index, i32) + ", " +
                                             words + " " + zero);
    return {chosen, true, false, 0};
}

/// The processor reads and writes the places of a vector at once.
bool gathers(const IrRun& run, const Access& a) {
    return vector_facts(run.profile).gathers && run.lanes > 1 && element_bytes(a.buffer) >= 4;
}

/// The address of the buffer from which indices count for the part `k` of every lane's elements.
std::string base_behind(IrRun& run, const Access& a, int k) {
    if (k + a.behind == 0) return a.pointer;
    return emit(run, "getelementptr " + memory_type(a.dtype) + ", ptr " + a.pointer + ", i64 " +
                         std::to_string(k + a.behind));
}

/// The places of the part `k` of every lane's elements, as a vector.
std::string places(IrRun& run, const Access& a, int k) {
    const std::string base = base_behind(run, a, k);
    return emit(run, "getelementptr " + memory_type(a.dtype) + ", ptr " + base + ", " +
                         vector_of(run, "i32") + " " + as_vector(run, a.index, i32));
}

/// The lanes that run.
std::string running(IrRun& run) { return run.mask.empty() ? splat(run, "true", "i1") : run.mask; }

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

/// Stores the value of every lane that runs. If several lanes store to one element, it keeps the
/// last lane's value.
void scatter_at_once(IrRun& run, const Access& a, const std::string& value) {
    const std::string type = memory_type(a.dtype), vector = vector_of(run, type),
                      at = vector_of(run, "ptr"), bits = vector_of(run, "i1"),
                      name = "@llvm.masked.scatter." + suffix_of(vector) + ".v" +
                             std::to_string(run.lanes) + "p0";
    run.declared.insert("declare void " + name + "(" + vector + ", " + at + ", i32, " + bits + ")");
    const std::string where = places(run, a, 0), mask = running(run);
    emit_effect(run, "call void " + name + "(" + vector + " " + value + ", " + at + " " + where +
                         ", i32 " + std::to_string(element_bytes(a.buffer)) + ", " + bits + " " +
                         mask + ")");
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

/// Stores the values of every lane that runs; of those that store to the same element the last
/// lane's stay.
void scatter(IrRun& run, const Access& a, const IrValue& index,
             const std::vector<std::string>& values) {
    check_lanes(run, checked(run, a, index, static_cast<int>(values.size())), run.mask, false);
    if (values.size() == 1 && gathers(run, a)) return scatter_at_once(run, a, values[0]);
    const std::string type = memory_type(a.dtype), vector = vector_of(run, type);
    const auto store_lane = [&](int lane) {
        for (size_t k = 0; k < values.size(); ++k) {
            const std::string one = emit(run, "extractelement " + vector + " " + values[k] +
                                                  ", i64 " + std::to_string(lane)),
                              place = address(run, a, lane_of(run, index, i32, lane),
                                              static_cast<int64_t>(k));
            emit_effect(run, "store " + type + " " + one + ", ptr " + place + alignment(a));
        }
    };
    for (int lane = 0; lane < run.lanes; ++lane) {
        if (run.mask.empty()) {
            store_lane(lane);
            continue;
        }
        const std::string on = emit(run, "extractelement " + vector_of(run, "i1") + " " + run.mask +
                                             ", i64 " + std::to_string(lane)),
                          then = new_label(run, "store"), next = new_label(run, "stored");
        emit_effect(run, "br i1 " + on + ", label %" + then + ", label %" + next);
        begin_block(run, then);
        store_lane(lane);
        emit_effect(run, "br label %" + next);
        begin_block(run, next);
    }
}

/// The bytes of a line of the caches; and of the narrowest vector, below which a store past them
/// becomes several.
constexpr int kLine = 64, kLeastStreamed = 16;

/// A store past the caches, where the call asks for it and the place begins a vector or line;
/// otherwise an ordinary one.
void stream_or(IrRun& run, const std::string& store, const std::string& alignment,
               const std::string& place, int aligned) {
    run.streams = true;
    const std::string number = emit(run, "ptrtoint ptr " + place + " to i64"),
                      mask = emit(run, "or i64 " + run.cached + ", " + std::to_string(aligned - 1)),
                      within = emit(run, "and i64 " + number + ", " + mask),
                      begins = emit(run, "icmp eq i64 " + within + ", 0"),
                      past = new_label(run, "past"), cached = new_label(run, "cached"),
                      stored = new_label(run, "stored");
    emit_effect(run, "br i1 " + begins + ", label %" + past + ", label %" + cached);
    begin_block(run, past);
    emit_effect(run, store + ", align " + std::to_string(aligned) + ", !nontemporal !0");
    emit_effect(run, "br label %" + stored);
    begin_block(run, cached);
    emit_effect(run, store + alignment);
    emit_effect(run, "br label %" + stored);
    begin_block(run, stored);
}

void store_row(IrRun& run, const Access& a, const std::vector<std::string>& values) {
    const std::string type = memory_type(a.dtype);
    const int width = static_cast<int>(values.size()), count = run.lanes * width;
    check_elements(run, checked(run, a, {a.index.text}, count));
    // Several values of a lane lie side by side: pairs of vectors are joined, then interleaved.
    std::vector<std::string> parts = values;
    int each = run.lanes;
    while (parts.size() > 1) {
        std::vector<std::string> joined;
        std::string places;
        for (int k = 0; k < 2 * each; ++k) places += (k ? ", i32 " : "i32 ") + std::to_string(k);
        const std::string vector = "<" + std::to_string(each) + " x " + type + ">";
        for (size_t k = 0; k < parts.size(); k += 2)
            joined.push_back(emit(run, "shufflevector " + vector + " " + parts[k] + ", " + vector +
                                           " " + parts[k + 1] + ", <" + std::to_string(2 * each) +
                                           " x i32> <" + places + ">"));
        parts = std::move(joined);
        each *= 2;
    }
    const std::string all = "<" + std::to_string(count) + " x " + type + ">";
    std::string row = parts[0];
    if (width > 1) {
        std::string places;
        for (int k = 0; k < count; ++k)
            places += (k ? ", i32 " : "i32 ") + std::to_string(k % width * run.lanes + k / width);
        row = emit(run, "shufflevector " + all + " " + row + ", " + all + " poison, <" +
                            std::to_string(count) + " x i32> <" + places + ">");
    }
    const std::string place = address(run, a, a.index.text);
    const int bytes = count * element_bytes(a.buffer);
    if (a.buffer.space != MemorySpace::Bound)
        return emit_effect(run, "store " + all + " " + row + ", ptr " + place + alignment(a));
    store_vector(run, all + " " + row, place, bytes, element_bytes(a.buffer));
}

void store_masked(IrRun& run, const Access& a, const std::string& value) {
    check_lanes(run, checked(run, a, a.index, 1), run.mask, false);
    const std::string type = memory_type(a.dtype), vector = vector_of(run, type),
                      bits = vector_of(run, "i1"),
                      name = "@llvm.masked.store." + suffix_of(vector) + ".p0";
    run.declared.insert("declare void " + name + "(" + vector + ", ptr, i32, " + bits + ")");
    emit_effect(run, "call void " + name + "(" + vector + " " + value + ", ptr " +
                         address(run, a, a.index.text) + ", i32 " +
                         std::to_string(element_bytes(a.buffer)) + ", " + bits + " " + run.mask +
                         ")");
}

std::string atomic_operation(ScatterOp combine, DType type) {
    switch (combine) {
        case ScatterOp::Add: return type.is_float() ? "fadd" : "add";
        case ScatterOp::And: return "and";
        case ScatterOp::Or: return "or";
        case ScatterOp::Xor: return "xor";
        case ScatterOp::Min: return type.is_signed() ? "min" : "umin";
        case ScatterOp::Max: return type.is_signed() ? "max" : "umax";
        case ScatterOp::Last: return "xchg";
        case ScatterOp::Mul: return {};
    }
    return {};
}

/// An element combined with a value.
std::string combined(IrRun& run, const KernelNode& n, const std::string& old,
                     const std::string& value) {
    const ScatterOp combine = n.as<AccessAttr>().combine;
    const std::string type = memory_type(n.dtype), operands = type + " " + old + ", " + value;
    const bool is_float = n.dtype.is_float();
    if (combine == ScatterOp::Last) return value;
    if (combine == ScatterOp::Mul) return emit(run, (is_float ? "fmul " : "mul ") + operands);
    if (combine != ScatterOp::Min && combine != ScatterOp::Max)
        return emit(run, atomic_operation(combine, n.dtype) + " " + operands);
    const bool least = combine == ScatterOp::Min;
    std::string taken;
    if (is_float) {
        // The smaller (larger) of two floats: the number where one is nan.
        const std::string better = emit(run, std::string("fcmp ") + (least ? "olt" : "ogt") + " " +
                                                 type + " " + value + ", " + old),
                          nan = emit(run, "fcmp uno " + type + " " + old + ", " + old);
        taken = emit(run, "or i1 " + better + ", " + nan);
    } else {
        const std::string how =
            std::string(n.dtype.is_signed() ? "s" : "u") + (least ? "lt" : "gt");
        taken = emit(run, "icmp " + how + " " + type + " " + value + ", " + old);
    }
    return emit(run, "select i1 " + taken + ", " + type + " " + value + ", " + type + " " + old);
}

/// Combines one element with a value where no other thread does; returns the value before.
std::string combine_alone(IrRun& run, const KernelNode& n, const std::string& place,
                          const std::string& value) {
    const std::string type = memory_type(n.dtype),
                      old = emit(run, "load " + type + ", ptr " + place);
    emit_effect(run, "store " + type + " " + combined(run, n, old, value) + ", ptr " + place);
    return old;
}

/// Combines one element of memory with a value; returns the value before. Operations that no
/// instruction does are tried until no other thread was faster.
std::string combine_once(IrRun& run, const KernelNode& n, const std::string& place,
                         const std::string& value) {
    const DType type = n.dtype;
    const ScatterOp combine = n.as<AccessAttr>().combine;
    const std::string memory = memory_type(type);
    const std::string operation = atomic_operation(combine, type);
    // LLVM's own loop for floats does not ask on ARM whether its store succeeded, so that sums are
    // lost (19.1.7), and the thread sanitizer does not know it.
    const bool by_bits = type.is_float() && combine != ScatterOp::Last;
    if (!operation.empty() && !by_bits)
        return emit(run, "atomicrmw " + operation + " ptr " + place + ", " + memory + " " + value +
                             " monotonic");
    const std::string bits = memory == "float" || memory == "i32" ? "i32" : "i64",
                      again = new_label(run, "again"), done = new_label(run, "combined"),
                      before = emit(run, "load atomic " + bits + ", ptr " + place +
                                             " monotonic, align " + (bits == "i32" ? "4" : "8")),
                      from = run.block, seen = "%seen" + std::to_string(run.next++),
                      found = "%found" + std::to_string(run.next++);
    emit_effect(run, "br label %" + again);
    begin_block(run, again);
    run.text += "  " + seen + " = phi " + bits + " [" + before + ", %" + from + "], [" + found +
                ", %" + again + "]\n";
    const bool cast = memory != bits;
    const std::string old =
        cast ? emit(run, "bitcast " + bits + " " + seen + " to " + memory) : seen;
    std::string next = combined(run, n, old, value);
    if (cast) next = emit(run, "bitcast " + memory + " " + next + " to " + bits);
    const std::string pair = emit(run, "cmpxchg ptr " + place + ", " + bits + " " + seen + ", " +
                                           bits + " " + next + " monotonic monotonic");
    run.text += "  " + found + " = extractvalue {" + bits + ", i1} " + pair + ", 0\n";
    const std::string won = emit(run, "extractvalue {" + bits + ", i1} " + pair + ", 1");
    emit_effect(run, "br i1 " + won + ", label %" + done + ", label %" + again);
    begin_block(run, done);
    return old;
}

}  // namespace

void store_vector(IrRun& run, const std::string& value, const std::string& place, int bytes,
                  int alignment) {
    const std::string store = "store " + value + ", ptr " + place,
                      apart = ", align " + std::to_string(alignment);
    const int aligned = std::min(kLine, bytes);
    const bool whole = std::has_single_bit(static_cast<unsigned>(bytes));
    if (!whole || aligned < kLeastStreamed || !vector_facts(run.profile).stores_past_caches)
        return emit_effect(run, store + apart);
    stream_or(run, store, apart, place, aligned);
}

int element_bytes(const KernelBuffer& buffer) { return std::max(1, buffer.dtype.bytes()); }

DType element_of(const KernelCode& code, const KernelNode& n) {
    return n.op == KernelOp::Load ? n.dtype : code[n.args[1]].dtype;
}

bool has_words_in_common(const IrRun& run, const KernelNode& n) {
    const KernelBuffer& buffer = run.code.buffers[n.as<AccessAttr>().buffer];
    const DType dtype = element_of(run.code, n);
    return buffer.space == MemorySpace::Bound && element_bytes(buffer) == 4 &&
           (dtype == f32 || dtype == i32 || dtype == u32) &&
           (buffer.dtype == dtype || holds_bits(buffer, dtype));
}

OwnMemory own_memory(const KernelCode& code, int lanes) {
    OwnMemory out;
    for (const KernelBuffer& b : code.buffers) {
        out.offsets.push_back(out.bytes);
        if (b.space == MemorySpace::Bound) continue;
        const auto copies = static_cast<uint64_t>(b.space == MemorySpace::Private ? lanes : 1);
        const uint64_t bytes = static_cast<uint64_t>(b.elements.constant()) * copies *
                               static_cast<uint64_t>(element_bytes(b));
        out.bytes += (bytes + 63) / 64 * 64;
    }
    return out;
}

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

void write_store(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    if (!run.arguments.empty()) {  // a function gives its value
        run.returned = value_of(run, n.args[1]).text;
        if (run.arguments[0].varying)
            run.returned = as_vector(run, value_of(run, n.args[1]), run.code[n.args[1]].dtype);
        return;
    }
    const Access a = access_of(run, id, run.code[n.args[1]].dtype);
    ensure(a.dtype == run.code[n.args[1]].dtype, "a store has another type than its memory");
    const bool alike =
        !a.index.varying && std::none_of(n.args.begin() + 1, n.args.end(),
                                         [&](NodeId arg) { return value_of(run, arg).varying; });
    if (alike) {
        check_elements(run, checked(run, a, a.index, a.width));
        for (int k = 0; k < a.width; ++k)
            emit_effect(
                run, "store " + memory_type(a.dtype) + " " +
                         to_memory(run, a.dtype, value_of(run, n.args[size_t(k) + 1]).text, false) +
                         ", ptr " + address(run, a, a.index.text, k) + alignment(a));
        return;
    }
    std::vector<std::string> values;
    for (int k = 0; k < a.width; ++k)
        values.push_back(to_memory(
            run, a.dtype, as_vector(run, value_of(run, n.args[size_t(k) + 1]), a.dtype), true));
    const bool row = a.index.linear && a.index.stride == a.width;
    if (row && run.mask.empty()) return store_row(run, a, values);
    if (row && a.width == 1) return store_masked(run, a, values[0]);
    scatter(run, a, a.index, values);
}

void write_atomic(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    const Access a = access_of(run, id, n.dtype);
    check_lanes(run, checked(run, a, a.index, 1), run.mask, false);
    const std::string type = memory_type(n.dtype), vector = vector_of(run, type);
    const auto one = [&](int lane) {
        const std::string value = to_memory(
            run, n.dtype, lane_of(run, value_of(run, n.args[1]), run.code[n.args[1]].dtype, lane),
            false);
        const std::string place = address(run, a, lane_of(run, a.index, i32, lane));
        // The invocations of a group run on one thread, one after the other here.
        const bool alone = a.buffer.space != MemorySpace::Bound;
        return alone ? combine_alone(run, n, place, value) : combine_once(run, n, place, value);
    };
    if (run.lanes == 1) {
        run.values[id] = {{from_memory(run, n.dtype, one(0), false), false}};
        return;
    }
    std::string all = emit(run, "freeze " + vector + " poison");
    for (int lane = 0; lane < run.lanes; ++lane) {
        const std::string at = ", i64 " + std::to_string(lane);
        if (run.mask.empty()) {
            all = emit(run,
                       "insertelement " + vector + " " + all + ", " + type + " " + one(lane) + at);
            continue;
        }
        const std::string on = emit(run,
                                    "extractelement " + vector_of(run, "i1") + " " + run.mask + at),
                          then = new_label(run, "atomic"), next = new_label(run, "next"),
                          before = run.block;
        emit_effect(run, "br i1 " + on + ", label %" + then + ", label %" + next);
        begin_block(run, then);
        const std::string old = one(lane),
                          with = emit(run, "insertelement " + vector + " " + all + ", " + type +
                                               " " + old + at),
                          last = run.block;
        emit_effect(run, "br label %" + next);
        begin_block(run, next);
        all = emit(run, "phi " + vector + " [" + all + ", %" + before + "], [" + with + ", %" +
                            last + "]");
    }
    run.values[id] = {{from_memory(run, n.dtype, all, true), true}};
}

void write_array(IrRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    const int buffer = n.as<AccessAttr>().buffer;
    const KernelBuffer& b = run.code.buffers[buffer];
    const bool shared = b.space == MemorySpace::Shared;
    const int64_t elements = b.elements.constant() * (shared ? 1 : run.lanes);
    const std::string type = memory_type(b.dtype);
    std::string value = "0";
    if (type == "float" || type == "double" || type == "half") value = "0.0";
    if (!n.args.empty())
        value = to_memory(run, b.dtype, constant_text(run.code[n.args[0]].as<Scalar>().to(b.dtype)),
                          false);
    std::string from = "0", to = std::to_string(elements);
    if (shared && run.turns > 1) {  // each subgroup clears a part; a barrier follows
        const int64_t part = (elements + run.turns - 1) / run.turns;
        const std::string turn = emit(run, "zext i32 " + run.turn + " to i64");
        from = emit(run, "mul i64 " + turn + ", " + std::to_string(part));
        to = intrinsic(run, "umin", "i64",
                       {emit(run, "add i64 " + from + ", " + std::to_string(part)), to});
    }
    counted_loop(
        run, "i64", "%k" + std::to_string(run.next++), from, to, [&](const std::string& k) {
            const std::string place =
                emit(run, "getelementptr " + type + ", ptr " + run.memory[buffer] + ", i64 " + k);
            emit_effect(run, "store " + type + " " + value + ", ptr " + place);
        });
}

}  // namespace firn::native
