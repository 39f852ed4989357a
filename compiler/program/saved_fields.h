// The fields of all that a saved program is made of: one list for each struct, by which they are
// both written and read; internal. A list takes its struct apart, so that a field that is new
// does not compile until it stands here, or is said to stay out.
#pragma once
#include <concepts>
#include <type_traits>

#include "compiler/program/saved_program.h"

namespace firn::saved {

/// S, or a const one.
template <class T, class S>
concept Is = std::same_as<std::remove_const_t<T>, S>;

// `v(key, field)` is called for every field, in order; `v.later(key, field)` for a field that older
// files lack, and whose default value says nothing wrong. Other names of older formats stand in
// older_formats.cpp.

void fields(auto& v, Is<MatrixUnit> auto& x) {
    auto& [rows, columns, depth] = x;
    v("rows", rows), v("columns", columns), v("depth", depth);
}

void fields(auto& v, Is<DeviceProfile> auto& x) {
    auto& [name, driver, device_class, processor, subgroup_size, max_group_size, max_group_extent,
           max_groups, shared_bytes, push_constant_bytes, max_storage_buffers, max_views,
           max_storage_range, max_view_elements, buffer_alignment, max_back_edges,
           max_body_operations, view_loads, buffer_addresses, storage_8bit, storage_16bit, has_f64,
           has_i64, subgroup_shuffle, float_atomic_add, wide_atomics, keeps_special_floats,
           compares_widened, rounds_exactly, matrix_unit, operations_per_second, bytes_per_second,
           cache_bytes, seconds_per_load, shared_loads, seconds_per_launch, parallel_invocations,
           rates_measured] = x;
    v("name", name), v("driver", driver), v("class", device_class);
    v.later("processor", processor);
    v("subgroup_size", subgroup_size), v("max_group_size", max_group_size);
    v("max_group_extent", max_group_extent), v("max_groups", max_groups);
    v("shared_bytes", shared_bytes), v("push_constant_bytes", push_constant_bytes);
    v("max_storage_buffers", max_storage_buffers), v("max_views", max_views);
    v("max_storage_range", max_storage_range), v("max_view_elements", max_view_elements);
    v("buffer_alignment", buffer_alignment), v("max_back_edges", max_back_edges);
    v("max_body_operations", max_body_operations), v("view_loads", view_loads);
    v("buffer_addresses", buffer_addresses), v("storage_8bit", storage_8bit);
    v("storage_16bit", storage_16bit), v("has_f64", has_f64), v("has_i64", has_i64);
    v("subgroup_shuffle", subgroup_shuffle), v("float_atomic_add", float_atomic_add);
    v("wide_atomics", wide_atomics), v("keeps_special_floats", keeps_special_floats);
    v("compares_widened", compares_widened), v("rounds_exactly", rounds_exactly),
        v("matrix_unit", matrix_unit);
    v("operations_per_second", operations_per_second), v("bytes_per_second", bytes_per_second);
    v("cache_bytes", cache_bytes), v("seconds_per_load", seconds_per_load);
    v("shared_loads", shared_loads), v("seconds_per_launch", seconds_per_launch);
    v("parallel_invocations", parallel_invocations), v("rates_measured", rates_measured);
}

void fields(auto& v, Is<BindingInfo> auto& x) {
    auto& [form, dtype, width, written] = x;
    v("form", form), v("dtype", dtype), v("width", width), v("written", written);
}

void fields(auto& v, Is<ParamInfo> auto& x) {
    auto& [dtype, size, scalar] = x;
    v("dtype", dtype), v("size", size), v("scalar", scalar);
}

void fields(auto& v, Is<DeviceNeeds> auto& x) {
    auto& [known, f64, i64, bits_16, bits_8, subgroups, wide_atomics, float_atomics, addresses,
           exact_division] = x;
    v("known", known), v("f64", f64), v("i64", i64), v("bits_16", bits_16), v("bits_8", bits_8);
    v("subgroups", subgroups), v("wide_atomics", wide_atomics);
    v("float_atomics", float_atomics), v("addresses", addresses);
    v("exact_division", exact_division);
}

/// The code that only the kernel interpreter runs is not saved.
void fields(auto& v, Is<KernelInfo> auto& x) {
    auto& [name, artefact, needs, group_size, bindings, param_types, params_in_buffer,
           keeps_special_floats, shared_bytes, matrix_unit, back_edges, guards, lines, code,
           mapping, identity, tuning_key, tuned, ranges, unordered] = x;
    auto& [format, text, words] = artefact;
    v("name", name), v("format", format), v("text", text), v("words", words);
    v("group_size", group_size);
    v("bindings", bindings), v("param_types", param_types);
    v("params_in_buffer", params_in_buffer), v("keeps_special_floats", keeps_special_floats);
    v("shared_bytes", shared_bytes), v("matrix_unit", matrix_unit), v("back_edges", back_edges);
    v("guards", guards), v("lines", lines), v("mapping", mapping), v("tuning_key", tuning_key);
    v("tuned", tuned), v.later("ranges", ranges), v.later("unordered", unordered);
    v.later("needs", needs), v.later("identity", identity);
}

void fields(auto& v, Is<BufferInfo> auto& x) {
    auto& [name, dtype, elements, shape, role, data] = x;
    v("name", name), v("dtype", dtype), v("elements", elements), v("shape", shape);
    v("role", role), v("data", data);
}

void fields(auto& v, Is<Work> auto& x) {
    auto& [operations, bytes_read, bytes_written] = x;
    v("operations", operations), v("bytes_read", bytes_read), v("bytes_written", bytes_written);
}

/// Visits all fields but those that tuning starts from.
void fields(auto& v, Is<DispatchStep> auto& x) {
    auto& [kernel, buffers, params, groups, work, sizes_binding, sizes_groups, lowered] = x;
    v("kernel", kernel), v("buffers", buffers), v("params", params), v("groups", groups);
    v("work", work), v("sizes_binding", sizes_binding), v("sizes_groups", sizes_groups);
}

void fields(auto& v, Is<CopyStep> auto& x) {
    auto& [source, target] = x;
    v("source", source), v("target", target);
}

void fields(auto& v, Is<RepeatStep> auto& x) {
    auto& [induction, trips, body, rotation, alive, never_ended, line] = x;
    v("induction", induction), v("trips", trips), v("body", body), v("rotation", rotation);
    v("alive", alive), v("never_ended", never_ended), v("line", line);
}

void fields(auto& v, Is<ArgumentInfo> auto& x) {
    auto& [name, dtype, shape, scalar, buffer] = x;
    v("name", name), v("dtype", dtype), v("shape", shape), v("scalar", scalar);
    v("buffer", buffer);
}

void fields(auto& v, Is<ResultInfo> auto& x) {
    auto& [dtype, shape, buffer] = x;
    v("dtype", dtype), v("shape", shape), v("buffer", buffer);
}

void fields(auto& v, Is<DataSize> auto& x) {
    auto& [size, buffer] = x;
    v("size", size), v("buffer", buffer);
}

void fields(auto& v, Is<Guard> auto& x) {
    auto& [left, right, message] = x;
    v("left", left), v("right", right), v("message", message);
}

void fields(auto& v, Is<AssumedSize> auto& x) {
    auto& [size, most] = x;
    v("size", size), v("most", most);
}

void fields(auto& v, Is<HostScalar> auto& x) {
    auto& [op, constant, argument, size, a, b] = x;
    v("op", op), v("constant", constant), v("argument", argument), v("size", size);
    v("a", a), v("b", b);
}

void fields(auto& v, Is<VerdictInfo> auto& x) {
    auto& [value, verdict, reason, lines, inlined, staged, materialised] = x;
    v("value", value), v("verdict", verdict), v("reason", reason), v("lines", lines);
    v("inline_seconds", inlined), v("stage_seconds", staged);
    v("materialise_seconds", materialised);
}

/// Visits all fields but the source.
void fields(auto& v, Is<Program> auto& x) {
    auto& [name, arguments, results, data_sizes, guards, assumed, host_scalars, buffers, kernels,
           steps, verdicts, rounds, cuts, profile, compile_milliseconds, build_milliseconds,
           source] = x;
    v("name", name), v("arguments", arguments), v("results", results);
    v("data_sizes", data_sizes), v("guards", guards), v("assumed", assumed);
    v("host_scalars", host_scalars), v("buffers", buffers), v("kernels", kernels);
    v("steps", steps), v("verdicts", verdicts), v.later("rounds", rounds), v("cuts", cuts);
    v("profile", profile);
    v("compile_milliseconds", compile_milliseconds), v("build_milliseconds", build_milliseconds);
}

void fields(auto& v, Is<ProgramParameter> auto& x) {
    auto& [name, kind, arguments, value, min, max, soft_min, soft_max, log, step, unit, label,
           group, help, names] = x;
    v("name", name), v("kind", kind), v("arguments", arguments), v("value", value);
    v("min", min), v("max", max), v("soft_min", soft_min), v("soft_max", soft_max);
    v("log", log), v("step", step), v("unit", unit), v("label", label), v("group", group);
    v("help", help), v("names", names);
}

void fields(auto& v, Is<SymbolFacts> auto& x) {
    auto& [exact, divisors, largest, bindable] = x;
    v("exact", exact), v("divisors", divisors), v("largest", largest), v("bindable", bindable);
}

void fields(auto& v, Is<SavedVariant> auto& x) {
    auto& [facts, program, same_constants] = x;
    v("facts", facts), v("program", program), v("same_constants", same_constants);
}

void fields(auto& v, Is<SavedProgram> auto& x) {
    auto& [name, program, variants, parameters, scalars, shapes, result_names] = x;
    v("name", name), v("program", program), v.later("variants", variants);
    v("parameters", parameters), v("scalars", scalars), v("shapes", shapes);
    v.later("result_names", result_names);
}

}  // namespace firn::saved
