// Loads words from a storage buffer, over and over, to be timed beside texel_rate.comp.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer Words { uint words[]; };
layout(set = 0, binding = 1, std430) buffer Sums { uint sums[]; };
layout(push_constant) uniform Params { int turns; };

void main() {
    int at = int(gl_GlobalInvocationID.x);
    uint sum = 0u;
    for (int k = 0; k < turns; ++k) sum += words[at + 61 * k & 4095];
    sums[at] = sum;
}
