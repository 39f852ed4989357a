// A triangle over the viewport; texture coordinates run from 0 to 1 across it. The range of the
// values is found here, once, and not for every pixel.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "view_buffer.glsl"
layout(constant_id = 4) const int range_kind = 0;  // as RangeKind of view_renderer.h
layout(set = 0, binding = 1, std430) readonly buffer Range { uint smallest, largest; };
#include "shown_range.glsl"

layout(location = 0) out vec2 uv;
layout(location = 1) flat out vec2 range;

void main() {
    uv = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
    vec2 ends = shown_range(range_kind, low, high);
    range = vec2(ends.x, 1.0 / (ends.y - ends.x));
}
