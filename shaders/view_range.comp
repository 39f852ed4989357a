// Smallest and largest finite element of a tensor, as uints that order like the floats they stand for.
#version 450
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 256) in;
#include "view_buffer.glsl"
layout(set = 0, binding = 1, std430) buffer Range { uint smallest, largest; };

shared uint group_smallest, group_largest;

uint ordered(float value) {
    uint bits = floatBitsToUint(value);
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

void main() {
    if (gl_LocalInvocationIndex == 0u) {
        group_smallest = 0xffffffffu;
        group_largest = 0u;
    }
    barrier();
    uint low = 0xffffffffu, high = 0u;
    int count = height * width * channels;
    int begin = int(gl_WorkGroupID.x) * 8192 + int(gl_LocalInvocationIndex);
    for (int k = 0; k < 32; ++k) {
        int index = begin + k * 256;
        if (index < count) {
            float value = element(index);
            if (!isnan(value) && !isinf(value)) {
                low = min(low, ordered(value));
                high = max(high, ordered(value));
            }
        }
    }
    atomicMin(group_smallest, low);
    atomicMax(group_largest, high);
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        atomicMin(smallest, group_smallest);
        atomicMax(largest, group_largest);
    }
}
