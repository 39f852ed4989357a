// Compares integers that were just widened to 64 bits with constants: some drivers compute with what they were.
#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 8) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { int values[]; };
layout(set = 0, binding = 1, std430) buffer Answers { uint answers[]; };

void main() {
    int64_t x = int64_t(values[gl_LocalInvocationIndex]);
    uint below = (x < 0l ? 1u : 0u) | (x < 1l ? 2u : 0u) | (x < -1l ? 4u : 0u) | (x <= 0l ? 8u : 0u);
    uint above = (0l < x ? 16u : 0u) | (1l < x ? 32u : 0u) | (-1l < x ? 64u : 0u) | (0l <= x ? 128u : 0u);
    answers[gl_LocalInvocationIndex] = below | above;
}
