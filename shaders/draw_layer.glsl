// The part that the shaders of drawings share: the pipeline's constants, and the values of a whole
// layer.

layout(constant_id = 0) const int shape = 0;      // as DrawShape of scene.h
layout(constant_id = 1) const int dimensions = 2;
layout(constant_id = 2) const int channels = 0;   // of the colours; 0: all have the layer's
layout(constant_id = 3) const int corners = 0;    // every corner has a colour
layout(constant_id = 4) const int sized = 0;      // every shape has a size
layout(constant_id = 5) const int in_units = 0;   // sizes are radii in units, else diameters in pixels
layout(constant_id = 6) const int lit = 0;
layout(constant_id = 7) const int in_space = 0;

const int kPoints = 0, kLines = 1, kPath = 2, kArrows = 3, kTriangles = 4;

layout(push_constant) uniform Push {
    mat4 to_clip;
    vec4 colour;
    vec2 viewport;  // pixels
    vec2 focal;     // in space: clip x and y of what is 1 unit off the axis
    float size;
    float unit;     // pixels of radius for a size of 1, in space at a distance of 1
    float stretch;
    uint firsts;    // where the bindings' first elements are, a byte each
};

// Light from the upper left, behind the person; all directions are the camera's.
vec3 shaded(vec3 base, vec3 normal) {
    const vec3 light = normalize(vec3(-0.4, 0.7, 0.6));
    float facing = 0.5 + 0.5 * dot(normal, light);
    float shine = max(dot(normal, normalize(light + vec3(0.0, 0.0, 1.0))), 0.0);
    return base * (0.18 + 0.82 * facing * facing) + 0.22 * pow(shine, 40.0);
}
