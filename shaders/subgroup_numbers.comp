// Each invocation answers at the place that its subgroup's and its lane's number give it, with what lanes exchange:
// a place that no invocation has, or two have, goes without its answer.
#version 460
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = 128) in;
layout(set = 0, binding = 0, std430) readonly buffer Asked { uint lanes; };
layout(set = 0, binding = 1, std430) buffer Answers { uint answers[]; };

void main() {
    uint first = gl_SubgroupID * lanes, place = first + gl_SubgroupInvocationID;
    bool right = gl_SubgroupSize == lanes && gl_SubgroupInvocationID < lanes;
    for (uint lane = 0u; lane < lanes; ++lane) right = right && subgroupShuffle(place, lane) == first + lane;
    for (uint far = lanes / 2u; far > 0u; far /= 2u) {
        uint other = subgroupShuffleXor(place, far);
        right = right && other == (place ^ far);
    }
    if (right && place < 128u) atomicAdd(answers[place], place + 1u);
}
