// Writes frames as a GIF, without another program.
#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "engine/window/picture.h"

namespace firn {

/// Every frame has a palette of 256 colours of its own, chosen by median cut (P. Heckbert, "Color
/// Image Quantization for Frame Buffer Display", 1982). Frames last whole hundredths of a second,
/// and at least 2: a GIF plays at most 50 frames a second.
class GifWriter {
  public:
    /// The GIF plays `rate` frames a second, or the nearest rate that is possible.
    explicit GifWriter(const std::string& path, double rate = 60);
    /// Removes a GIF that was not finished.
    ~GifWriter();
    GifWriter(const GifWriter&) = delete;
    GifWriter& operator=(const GifWriter&) = delete;

    /// Adds a frame. Throws UserError if its size differs from the first one's, or if the disk is
    /// full.
    void add(const Picture& picture);
    /// Completes the file and gives it its name. Returns a message that says what was written.
    std::string finish();

  private:
    void put(const std::vector<uint8_t>& bytes);

    std::string path_, temporary_;
    std::ofstream file_;
    int hundredths_ = 2;  // of a second for each frame
    int width_ = 0, height_ = 0;
};

/// 256 colours, red, green and blue, and for each of 32768 colours of 5 bits a channel the nearest.
struct Palette {
    std::vector<uint8_t> colours, index;
};
Palette palette_of(const Picture& picture);
/// The image data of a GIF: indices of 8 bits by variable codes (T. Welch, 1984), in blocks.
std::vector<uint8_t> gif_codes(const std::vector<uint8_t>& indices);

}  // namespace firn
