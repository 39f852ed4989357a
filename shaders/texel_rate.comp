// Loads words through a texel view, over and over, to be timed beside storage_rate.comp.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, r32ui) readonly uniform uimageBuffer words;
layout(set = 0, binding = 1, std430) buffer Sums { uint sums[]; };
layout(push_constant) uniform Params { int turns; };

void main() {
    int at = int(gl_GlobalInvocationID.x);
    uint sum = 0u;
    for (int k = 0; k < turns; ++k) sum += imageLoad(words, at + 61 * k & 4095).x;
    sums[at] = sum;
}
