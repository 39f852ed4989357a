// Stores as LLVM IR.
#include "compiler/target/native/stores.h"

#include <algorithm>
#include <bit>

#include "compiler/base/error.h"
#include "compiler/host/processor.h"
#include "compiler/target/native/access.h"
#include "compiler/target/native/elements.h"
#include "compiler/target/native/regions.h"

namespace firn::native {
namespace {

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

}  // namespace firn::native
