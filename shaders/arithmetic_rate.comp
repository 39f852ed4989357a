// Sums and products in twelve independent chains, eight steps of each an iteration, to be timed.
#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) writeonly buffer Sums { float sums[]; };
layout(push_constant) uniform Params { int iterations; };

void main() {
    // The chains go to 1, never to numbers so small that some devices slow down.
    float b = 1.0 / float(iterations + 2), a = 1.0 - b;
    float x[12];
    [[unroll]] for (int k = 0; k < 12; ++k) x[k] = float(gl_LocalInvocationIndex + uint(k));
    for (int i = 0; i < iterations; ++i)
        [[unroll]] for (int step = 0; step < 8; ++step)
            [[unroll]] for (int k = 0; k < 12; ++k) x[k] = x[k] * a + b;
    float sum = 0.0;
    [[unroll]] for (int k = 0; k < 12; ++k) sum += x[k];
    sums[gl_GlobalInvocationID.x] = sum;
}
