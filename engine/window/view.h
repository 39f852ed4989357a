// A buffer with its type and shape, as a window shows it, and how its values become colours.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/program/dtype.h"

namespace firn {

class Memory;

/// A tensor in memory: elements in row-major order from a byte offset. The memory is kept alive.
struct BufferView {
    SharedPtr<Memory> memory;
    uint64_t offset = 0;
    DType dtype = f32;
    std::vector<int64_t> shape;
};

/// The colour maps, with the numbers of view.frag.
enum class Colormap : uint8_t { Grey, Viridis, Magma, Inferno, Turbo, Coolwarm, Icefire, Plasma };

namespace colormap {
inline constexpr Colormap grey = Colormap::Grey;
inline constexpr Colormap viridis = Colormap::Viridis;
inline constexpr Colormap magma = Colormap::Magma;
inline constexpr Colormap inferno = Colormap::Inferno;
inline constexpr Colormap plasma = Colormap::Plasma;
inline constexpr Colormap turbo = Colormap::Turbo;
inline constexpr Colormap coolwarm = Colormap::Coolwarm;  // diverging, light in the middle
inline constexpr Colormap icefire = Colormap::Icefire;    // diverging, dark in the middle
}  // namespace colormap

/// The values that are shown as the first and the last colour. If they are equal, the range is
/// automatic: the smallest and largest finite element of each frame (for a diverging map symmetric
/// about 0).
struct ValueRange {
    float low = 0, high = 0;
};
/// No range is stated: it follows the rule of ShowOptions.
inline constexpr ValueRange kUnstatedRange{__builtin_nanf(""), __builtin_nanf("")};

/// The options of a shown tensor: [h, w] or [h, w, 1] through the map, [h, w, 3] and [h, w, 4] as
/// colours. The contrast follows one rule in windows, pictures and videos alike: a stated range is
/// taken as it is; without one, the range of a named map is automatic (ValueRange), and grey
/// without a map and colours are shown from 0 to 1, as picture files have them.
struct ShowOptions {
    std::optional<Colormap> colormap = {};  ///< none: grey
    /// Elements of type u8 count in steps of 1/255 and of u16 of 1/65535, as in picture files.
    ValueRange range = kUnstatedRange;
    /// Blends neighbours if the tensor is smaller than the window; false: squares.
    bool smooth = true;
    float opacity = 1;  // with alpha: how much it hides what is behind it
    /// Shows a colour bar beside the tensor: the values that its colours stand for, in round
    /// numbers, and `label` above, such as "speed, m/s". The tensor has one channel.
    bool colour_bar = false;
    std::string label;
};

/// Options after a map: `show(u, colormap::viridis, {.colour_bar = true})`.
struct MapOptions {
    std::optional<ValueRange> range = {};  // none: the smallest and largest finite element
    bool smooth = true;
    float opacity = 1;
    bool colour_bar = false;
    std::string label = {};
};
ShowOptions show_options(Colormap map, const MapOptions& options);
/// Returns the range of a picture of so many channels by the rule of ShowOptions; equal: automatic.
ValueRange range_of(const ShowOptions& options, int64_t channels);

/// A rectangle of pixels, from the upper left corner.
struct Rectangle {
    float x = 0, y = 0, width = 0, height = 0;
};
/// Throws UserError that begins with `what` if a tensor is no picture, because of its rank, its
/// channels or a size of zero.
void check_picture(const std::string& what, DType dtype, const std::vector<int64_t>& shape);
/// Throws UserError if the view cannot be shown, because of its rank, channels, type or a size of
/// zero.
void check_showable(const BufferView& view);
/// Returns the value of one step of an integer type in pictures: 1/255 for u8, 1/65535 for u16, and
/// 1 for all other types.
float shown_unit(DType dtype);

}  // namespace firn
