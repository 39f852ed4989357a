// Where a run writes its frames, by the name that a person gave.
#pragma once
#include <cstdint>
#include <string>

namespace firn {

struct OutputFile {
    enum class Kind : uint8_t { None, Picture, Light, Npy, Video, Gif };
    Kind kind = Kind::None;
    bool sequence = false;  // a file a frame: the path has a %d or %04d
    std::string path;

    /// All frames, not the last alone.
    bool takes_all_frames() const { return sequence || kind == Kind::Video || kind == Kind::Gif; }
};

/// By its ending. Throws UserError for an ending that is none of .png, .jpg, .exr, .hdr, .npy, .mp4
/// and .gif, and for a % that is no number of frames.
OutputFile output_file(const std::string& path);
/// Of one frame of a sequence.
std::string frame_path(const OutputFile& file, int number);

}  // namespace firn
