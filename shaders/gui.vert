// Vertices of the GUI, fetched by index from storage buffers: position, texture coordinate, colour.
#version 450

struct Vertex {
    float x, y, u, v;
    uint colour;  // 8 bits each: red lowest
};
layout(set = 0, binding = 0, std430) readonly buffer Vertices { Vertex vertices[]; };
layout(set = 0, binding = 1, std430) readonly buffer Indices { uint indices[]; };
layout(push_constant) uniform Push {
    vec2 scale;  // pixels to clip space
    ivec2 atlas_size;
};

layout(location = 0) out vec2 uv;
layout(location = 1) out vec4 colour;

void main() {
    Vertex vertex = vertices[indices[gl_VertexIndex]];
    gl_Position = vec4(vec2(vertex.x, vertex.y) * scale - 1.0, 0.0, 1.0);
    uv = vec2(vertex.u, vertex.v);
    colour = unpackUnorm4x8(vertex.colour);
}
