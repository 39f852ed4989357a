// A pixel of a lit ball: a point in space with a radius.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "draw_layer.glsl"

layout(location = 0) in vec4 tint;
layout(location = 1) in vec4 mark;   // as draw.vert has them
layout(location = 2) in vec4 extra;
layout(location = 0) out vec4 result;

void main() {
    vec2 at = mark.xy, span = mark.zw, ball = extra.xy;
    vec2 place = at / span.y;
    float height = sqrt(max(1.0 - dot(place, place), 0.0));
    float cover = clamp(span.y + 0.5 - length(at), 0.0, 1.0) * tint.a;
    if (cover <= 0.0) discard;  // it would hide what is behind it
    result = vec4(shaded(tint.rgb, normalize(vec3(place.x, -place.y, height))), cover);
    float near = to_clip[3][2];
    gl_FragDepth = min(near / max(ball.x - ball.y * height, near), 1.0);
}
