// The GUI's colour times the coverage in its font atlas, which is a buffer of bytes, sampled bilinearly.
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Push {
    vec2 scale;
    ivec2 atlas_size;
};
layout(set = 0, binding = 2, std430) readonly buffer Atlas { uint texels[]; };
#include "glyph_atlas.glsl"

layout(location = 0) in vec2 uv;
layout(location = 1) in vec4 colour;
layout(location = 0) out vec4 result;

void main() {
    result = vec4(colour.rgb, colour.a * coverage(uv * vec2(atlas_size)));
}
