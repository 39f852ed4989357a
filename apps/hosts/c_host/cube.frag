// The picture on the cube.
#version 450

layout(set = 0, binding = 0) uniform sampler2D picture;
layout(location = 0) in vec2 place;
layout(location = 1) in float light;
layout(location = 0) out vec4 colour;

void main() { colour = vec4(light * texture(picture, place).rgb, 1.0); }
