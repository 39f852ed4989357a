// The output file of a run's frames, its format chosen by the name.
#pragma once
#include <cstdint>
#include <string>

namespace firn {

struct OutputFile {
    enum class Kind : uint8_t { None, Picture, Light, Npy, Video, Gif };
    Kind kind = Kind::None;
    bool sequence = false;  // one file for each frame: the path contains a %d or %04d
    std::string path;

    /// True if the file takes all frames, and not the last one alone.
    bool takes_all_frames() const { return sequence || kind == Kind::Video || kind == Kind::Gif; }
};

/// Chooses the format by the ending. Throws UserError for an ending other than .png, .jpg, .exr,
/// .hdr, .npy, .mp4 and .gif, and for a % that is no frame number.
OutputFile output_file(const std::string& path);
/// The path of one frame of a sequence.
std::string frame_path(const OutputFile& file, int number);

}  // namespace firn
