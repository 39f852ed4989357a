// The GUI's colour times the coverage in its font atlas, which is a buffer of bytes, sampled bilinearly.
#version 450

layout(set = 0, binding = 2, std430) readonly buffer Atlas { uint texels[]; };
layout(push_constant) uniform Push {
    vec2 scale;
    ivec2 atlas_size;
};

layout(location = 0) in vec2 uv;
layout(location = 1) in vec4 colour;
layout(location = 0) out vec4 result;

float texel(ivec2 at) {
    at = clamp(at, ivec2(0), atlas_size - 1);
    int index = at.y * atlas_size.x + at.x;
    return float((texels[index >> 2] >> (8 * (index & 3))) & 255u) / 255.0;
}

void main() {
    vec2 position = uv * vec2(atlas_size) - 0.5;
    ivec2 corner = ivec2(floor(position));
    vec2 part = position - vec2(corner);
    float top = mix(texel(corner), texel(corner + ivec2(1, 0)), part.x);
    float bottom = mix(texel(corner + ivec2(0, 1)), texel(corner + ivec2(1, 1)), part.x);
    result = vec4(colour.rgb, colour.a * mix(top, bottom, part.y));
}
