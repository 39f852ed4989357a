// One triangle over the viewport; texture coordinates run from 0 to 1 across it. The range of the values is
// found here, once, and not for every pixel.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "view_buffer.glsl"
layout(constant_id = 4) const int range_kind = 0;  // as RangeKind of view_renderer.cpp
layout(set = 0, binding = 1, std430) readonly buffer Range { uint smallest, largest; };

layout(location = 0) out vec2 uv;
layout(location = 1) flat out vec2 range;

float value_of(uint ordered) {
    return uintBitsToFloat((ordered & 0x80000000u) != 0u ? ordered & 0x7fffffffu : ~ordered);
}

void main() {
    uv = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
    float from = low, to = high;
    if (range_kind != 0) {
        bool any = smallest <= largest;  // else nothing is finite
        from = any ? value_of(smallest) : 0.0;
        to = any ? value_of(largest) : 1.0;
        if (range_kind == 2) {
            to = max(abs(from), abs(to));
            from = -to;
        }
    }
    if (from == to) {  // all in the middle
        float margin = max(0.5, 0.5 * abs(from));
        from -= margin;
        to += margin;
    }
    range = vec2(from, 1.0 / (to - from));
}
