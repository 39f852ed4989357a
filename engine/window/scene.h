// The content of a window: a picture, shapes in memory, or shapes over a picture.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/window/view.h"

namespace firn {

/// The kinds of shapes, with the numbers of draw_layer.glsl.
enum class DrawShape : uint8_t { Points, Lines, Path, Arrows, Triangles, Text, Numbers };

/// Additional options of Text and Numbers.
struct DrawText {
    std::vector<std::string> labels;  // of Text: UTF-8, one for each place
    int decimals = -1;                // of Numbers; below 0: as few of six digits as say them
    /// The point of the text that lies at its place: from its left and top, 0, to its right and
    /// bottom, 1.
    std::array<float, 2> align{0.5f, 0.5f};
    std::array<float, 2> shift{0, 0};  // pixels to the right and down, at scale 1
    bool on_top = true;                // in space: nothing hides it
    bool halo = true;                  // a dark rim around bright letters, or a bright one
};

/// n shapes of one kind, from f32 tensors in d = 2 or 3 dimensions. A shape with a number that is
/// not finite is left out. n may be 0, then without memory.
struct DrawLayer {
    DrawShape shape = DrawShape::Points;
    /// The places: [n, d] for Points, Arrows (their begins), Text, Numbers and Path (n points,
    /// which it joins); [n, 2, d] for Lines, [n, 3, d] for Triangles.
    BufferView places;
    BufferView vectors;  // of Arrows: [n, d]
    /// Colours as they are shown, from 0 to 1: [n, 3 or 4], or for every corner of Lines [n, 2, c]
    /// and of Triangles [n, 3, c]. Alpha is the last of 4. Without memory: `colour`.
    BufferView colours;
    BufferView sizes;   // [n]; no memory: `size`. Not of Triangles and texts.
    BufferView values;  // of Numbers: [n]
    DrawText text;
    std::array<float, 4> colour{1, 1, 1, 1};
    /// The diameter of a point, the width of a line or the height of a line of text, in pixels at
    /// scale 1.
    float size = 1;
    /// True: sizes are radii, in units of the places.
    bool in_units = false;
    float stretch = 1;  // of Arrows: their length by that of their vector
    bool lit = false;   // in space: points in units are balls
    /// True: adds its light to what is behind it, and hides nothing.
    bool additive = false;
};

/// The part that a flat drawing shows, in its own units; top may be below bottom.
struct DrawLimits {
    float left = 0, right = 1, bottom = 0, top = 1;
};

/// Axes with numbers to the left of and below something flat, and a word for each.
struct DrawAxes {
    std::string x = {}, y = {};  // such as "time, s"
};

/// A camera that looks at `target` from `distance` units away; y is up. With yaw and pitch 0 it
/// looks along -z.
struct DrawCamera {
    std::array<float, 3> target{0, 0, 0};
    float distance = 3;
    float yaw = 0.6f, pitch = 0.35f;  // radians: to the right about y, then above the horizon
    float field_of_view = 0.8f;       // radians, over the shorter side of the frame
    /// True: the camera turns about itself instead of about its target.
    bool fly = false;
    bool operator==(const DrawCamera&) const = default;
};

/// A colour bar beside a drawing: the values that the colours of a map stand for.
struct ColourBar {
    Colormap colormap = Colormap::Viridis;
    ValueRange range;   // low and high differ
    std::string label;  // above it, such as "speed, m/s"
};

/// A frame without its panel, or a part of one. If a layer has three dimensions, the scene is in
/// space, seen by the camera, in front of the picture. Otherwise it is flat: later layers lie over
/// earlier ones and the picture, within `limits`. Without limits, (x, y) is column and row of the
/// picture or, without a picture, from (0, 0), lower left, to (1, 1).
struct DrawScene {
    BufferView picture;  // no memory: only the background
    ShowOptions options;
    std::vector<DrawLayer> layers;
    BufferView overlay;  // a picture over the layers; no memory: none
    ShowOptions overlay_options;
    std::optional<DrawLimits> limits;
    std::optional<DrawAxes> axes;  // of what is flat
    /// True: without a picture y points down, for either order of the limits.
    bool y_down = false;
    DrawCamera camera;
    std::optional<ColourBar> colour_bar;  // of what layers are coloured by; pictures have their own
    std::string caption;                  // below

    /// Calls `change` with each tensor of the scene (BufferView&); those that it lacks have no
    /// memory.
    template <class Change>
    void for_tensors(const Change& change) {
        change(picture);
        change(overlay);
        for (DrawLayer& layer : layers)
            for (BufferView* view :
                 {&layer.places, &layer.vectors, &layer.colours, &layer.sizes, &layer.values})
                change(*view);
    }
    bool is_empty() const { return !picture.memory && layers.empty() && !overlay.memory; }
    bool is_in_space() const;
};

/// A grid of several scenes.
struct SceneGrid {
    int columns = 0;  // 0: as many as rows, or one more
};

}  // namespace firn
