// Reads the numbers of vertices from tensors. It stands behind a push block with to_clip, colour,
// viewport and firsts, and behind the constants dimensions and channels.

layout(set = 0, binding = 0, std430) readonly buffer Places { float places[]; };
layout(set = 0, binding = 2, std430) readonly buffer Colours { float colours[]; };

uint first(uint binding) { return firsts >> (8u * binding) & 255u; }

vec3 place(uint index) {
    uint k = first(0u) + index * uint(dimensions);
    return vec3(places[k], places[k + 1u], dimensions == 3 ? places[k + 2u] : 0.0);
}
vec4 colour_of(uint index) {
    if (channels == 0) return colour;
    uint k = first(2u) + index * uint(channels);
    vec4 read = vec4(colours[k], colours[k + 1u], colours[k + 2u], channels == 4 ? colours[k + 3u] : 1.0);
    return clamp(read, 0.0, 1.0);
}

// Compilers may take comparisons with themselves as true; bits do not lie.
bool is_finite(vec3 p) {
    return all(notEqual(floatBitsToUint(p) & 0x7f800000u, uvec3(0x7f800000u)));
}
void leave_out() { gl_Position = vec4(0.0, 0.0, -1.0, 1.0); }
// Places a vertex in pixels from the middle of the frame; what is linear on the screen is then
// linear in all.
void put(vec2 pixel, float depth) { gl_Position = vec4(pixel * 2.0 / viewport, min(depth, 1.0), 1.0); }
