// A pixel of a drawing's text; a halo of the opposite lightness keeps it legible over everything.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "draw_text.glsl"
layout(set = 0, binding = 4, std430) readonly buffer Atlas { uint texels[]; };
#include "glyph_atlas.glsl"

layout(location = 0) in vec4 tint;
layout(location = 1) in vec2 at;
layout(location = 2) flat in vec4 bounds;
layout(location = 3) flat in vec2 pixel;
layout(location = 4) flat in int is_halo;
layout(location = 0) out vec4 result;

// The coverage of this glyph alone: others lie beside it in the atlas.
float letter(vec2 position) {
    vec2 outside = max(bounds.xy - position, position - bounds.zw);
    return max(outside.x, outside.y) > 0.5 ? 0.0 : coverage(position);
}

void main() {
    float covered = 0.0;
    bool light = dot(tint.rgb, vec3(0.299, 0.587, 0.114)) > 0.45;
    if (is_halo == 1) {
        for (int k = 0; k < 8; ++k) {
            float angle = 0.78539816 * float(k);
            covered = max(covered, 0.75 * letter(at + 1.3 * pixel * vec2(cos(angle), sin(angle))));
        }
        result = vec4(vec3(light ? 0.03 : 0.97), covered * tint.a);
    } else {
        covered = letter(at);
        result = vec4(tint.rgb, covered * tint.a);
    }
    if (result.a <= 0.0) discard;  // it would hide what is behind it
}
