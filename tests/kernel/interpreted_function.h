// An operation on whole columns, by the host interpreter of kernel code, for tests.
#pragma once
#include <cstring>
#include <vector>

#include "compiler/kernel/interpret/interpret_kernel.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/kernel/place.h"

namespace firn::test {

/// Returns placed code of a grid whose invocation i computes an operation on element i of each of
/// its buffers but the last, and stores it there.
inline KernelCode column_code(KernelOp op, DType dtype, size_t count) {
    KernelCode code;
    code.name = "column";
    KernelBuilder b(code, {});
    Range grid;
    grid.name = "i", grid.extent = Size(static_cast<int64_t>(count));
    const NodeId i = b.range(b.add_range(grid));
    const int inputs = info(op).arity;
    std::vector<NodeId> args;
    for (int k = 0; k < inputs; ++k)
        args.push_back(b.load(b.buffer(k, dtype, grid.extent, BindingForm::Storage, 1, false), i));
    // As combine_operations does it: the builder knows no operation in the place of several.
    const int out = b.buffer(inputs, dtype, grid.extent, BindingForm::Storage, 1, true);
    NodeId value;
    if (is_elementwise(op)) {
        value = b.make(op, dtype, args);
    } else {
        value = b.make(KernelOp::Neg, dtype, args);
        code[value].op = op;
    }
    const NodeId stored = b.store(out, i, std::span(&value, 1));
    code[kRoot].effects = {stored};
    place(code);
    return code;
}

/// Runs such code; columns of the storage form of the type.
inline std::vector<std::byte> run_columns(const KernelCode& code,
                                          std::vector<std::vector<std::byte>> columns) {
    columns.emplace_back((columns[0].size() + 15) / 16 * 16);
    std::vector<std::span<std::byte>> buffers(columns.begin(), columns.end());
    interpret_kernel(code, buffers, {}, {}, 8);
    return columns.back();
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    std::vector<std::byte> out(values.size() * sizeof(T));
    std::memcpy(out.data(), values.data(), out.size());
    return out;
}

/// Returns the operation on each element of the columns.
template <class T>
std::vector<T> interpreted(KernelOp op, DType dtype, const std::vector<std::vector<T>>& columns) {
    std::vector<std::vector<std::byte>> stored;
    for (const std::vector<T>& column : columns) stored.push_back(bytes_of(column));
    const std::vector<std::byte> raw =
        run_columns(column_code(op, dtype, columns[0].size()), std::move(stored));
    std::vector<T> out(columns[0].size());
    std::memcpy(out.data(), raw.data(), out.size() * sizeof(T));
    return out;
}

}  // namespace firn::test
