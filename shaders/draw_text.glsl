// The part that the shaders of text in drawings share.

layout(constant_id = 0) const int numbers = 0;     // formatted here, from their tensor
layout(constant_id = 1) const int dimensions = 2;
layout(constant_id = 2) const int channels = 0;    // of the colours; 0: all have the layer's
layout(constant_id = 3) const int halo = 0;
layout(constant_id = 4) const int in_space = 0;

layout(push_constant) uniform Push {
    mat4 to_clip;
    vec4 colour;
    vec2 viewport;     // pixels
    vec2 shift;        // pixels
    vec2 align;        // of numbers
    ivec2 atlas_size;  // texels
    uint firsts;       // where the bindings' first elements are, a byte each
    int decimals;      // of numbers; below 0: as few as say them
};
