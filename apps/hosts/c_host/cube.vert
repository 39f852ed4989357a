// A cube without buffers: six corners of each of six faces.
#version 450

layout(push_constant) uniform Push { mat4 to_clip; };
layout(location = 0) out vec2 place;
layout(location = 1) out float light;

void main() {
    const vec2 corners[6] = vec2[](vec2(0, 0), vec2(1, 0), vec2(0, 1), vec2(0, 1), vec2(1, 0), vec2(1, 1));
    const float lights[3] = float[](0.8, 0.65, 1.0);
    place = corners[gl_VertexIndex % 6];
    int face = gl_VertexIndex / 6, axis = face / 2;
    float side = face % 2 == 0 ? 1.0 : -1.0;
    vec2 p = 2.0 * place - 1.0;
    vec3 corner = axis == 0 ? vec3(side, p.y, p.x * side) : axis == 1 ? vec3(p.x, side, p.y * side) : vec3(-p.x * side, p.y, side);
    light = lights[axis];
    gl_Position = to_clip * vec4(corner, 1.0);
}
