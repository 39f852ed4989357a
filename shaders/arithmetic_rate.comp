// Sums and products in twelve independent chains, eight steps of each an iteration, to be timed. Squares, as compilers
// make one step of many steps x * a + b.
#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Sums { float sums[]; };
layout(push_constant) uniform Params { int iterations; };

void main() {
    // The chains go to -0.37, never to numbers so small that some devices slow down.
    float x[12];
    [[unroll]] for (int k = 0; k < 12; ++k) x[k] = float(gl_LocalInvocationIndex + uint(k)) / 128.0;
    for (int i = 0; i < iterations; ++i)
        [[unroll]] for (int step = 0; step < 8; ++step)
            [[unroll]] for (int k = 0; k < 12; ++k) x[k] = x[k] * x[k] - 0.5;
    float sum = 0.0;
    [[unroll]] for (int k = 0; k < 12; ++k) sum += x[k];
    sums[gl_GlobalInvocationID.x] = sum;
}
