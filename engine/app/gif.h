// Frames as a GIF, written without another program.
#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "engine/window/picture.h"

namespace firn {

/// Every frame has 256 colours of its own: those that divide its pixels best (P. Heckbert, "Color
/// Image Quantization for Frame Buffer Display", 1982, by median cut). A GIF plays at most
/// 50 frames a second, whose times are hundredths of a second.
class GifWriter {
  public:
    /// It plays `rate` frames a second, or as nearly so many as it can.
    explicit GifWriter(const std::string& path, double rate = 60);
    /// What has not been finished is removed.
    ~GifWriter();
    GifWriter(const GifWriter&) = delete;
    GifWriter& operator=(const GifWriter&) = delete;

    /// All frames must have one size. Throws UserError where they have not, or the disk is full.
    void add(const Picture& picture);
    /// The video is whole and has its name. Gives what was written, for a person.
    std::string finish();

  private:
    void put(const std::vector<uint8_t>& bytes);

    std::string path_, temporary_;
    std::ofstream file_;
    int hundredths_ = 2;  // of a second that a frame is seen
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
