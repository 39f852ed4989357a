// Copies four vec4 per invocation, strided by workgroup; `word(at)` reads one.
layout(local_size_x_id = 0) in;
layout(set = 0, binding = 1, std430) writeonly buffer Target { vec4 target[]; };
layout(push_constant) uniform Params { int first_group; };

void main() {
    int wide = int(gl_WorkGroupSize.x);
    int at = (first_group + int(gl_WorkGroupID.x)) * 4 * wide + int(gl_LocalInvocationIndex);
    [[unroll]] for (int k = 0; k < 4; ++k) target[at + wide * k] = word(at + wide * k);
}
