// A product of two small matrices in every way in which kernels use a matrix unit: from rows and from columns in memory,
// summed over two turns, stored in f32 and in f16, and through shared memory.
#version 460
#pragma use_vulkan_memory_model
#extension GL_NV_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x_id = 3) in;
layout(constant_id = 0) const uint kRows = 16;
layout(constant_id = 1) const uint kColumns = 16;
layout(constant_id = 2) const uint kDepth = 16;
const uint kTurns = 2;
// Each operand row by row, then column by column.
layout(set = 0, binding = 0, std430) readonly buffer Left { float16_t left[]; };
layout(set = 0, binding = 1, std430) readonly buffer Right { float16_t right[]; };
layout(set = 0, binding = 2, std430) buffer Sums { float sums[]; };
layout(set = 0, binding = 3, std430) buffer Halves { float16_t halves[]; };
shared float exchanged[kRows * kColumns];

void main() {
    fcoopmatNV<32, gl_ScopeSubgroup, kRows, kColumns> rows = fcoopmatNV<32, gl_ScopeSubgroup, kRows, kColumns>(0.0);
    fcoopmatNV<32, gl_ScopeSubgroup, kRows, kColumns> columns = rows;
    for (uint turn = 0u; turn < kTurns; ++turn) {
        fcoopmatNV<16, gl_ScopeSubgroup, kRows, kDepth> a;
        fcoopmatNV<16, gl_ScopeSubgroup, kDepth, kColumns> b;
        coopMatLoadNV(a, left, turn * kDepth, kTurns * kDepth, false);
        coopMatLoadNV(b, right, turn * kDepth * kColumns, kColumns, false);
        rows = coopMatMulAddNV(a, b, rows);
        coopMatLoadNV(a, left, kTurns * kDepth * kRows + turn * kDepth * kRows, kRows, true);
        coopMatLoadNV(b, right, kTurns * kDepth * kColumns + turn * kDepth, kTurns * kDepth, true);
        columns = coopMatMulAddNV(a, b, columns);
    }
    coopMatStoreNV(rows, sums, 0u, kColumns, false);
    coopMatStoreNV(fcoopmatNV<16, gl_ScopeSubgroup, kRows, kColumns>(rows), halves, 0u, kColumns, false);
    coopMatStoreNV(columns, exchanged, 0u, kColumns, false);
    barrier();
    for (uint k = gl_SubgroupInvocationID; k < kRows * kColumns; k += gl_SubgroupSize)
        sums[kRows * kColumns + k] = exchanged[k];
}
