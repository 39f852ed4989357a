// Smallest and largest finite element of a tensor, as uints that order like the floats they stand for.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 256) in;
#include "view_buffer.glsl"
layout(set = 0, binding = 1, std430) buffer Range { uint smallest, largest; };

shared uint group_smallest, group_largest;

uint ordered(uint bits) {
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
    [[unroll]] for (int k = 0; k < 32; ++k) {
        // Beyond the end the last element counts again, which changes nothing.
        float value = element(min(begin + k * 256, count - 1));
        uint bits = floatBitsToUint(value);
        bool finite = (bits & 0x7f800000u) != 0x7f800000u;
        low = min(low, finite ? ordered(bits) : 0xffffffffu);
        high = max(high, finite ? ordered(bits) : 0u);
    }
    atomicMin(group_smallest, low);
    atomicMax(group_largest, high);
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        atomicMin(smallest, group_smallest);
        atomicMax(largest, group_largest);
    }
}
