// Writes the frames of a run: the last one as a file, or all of them as a sequence or a video.
#pragma once
#include <memory>
#include <string>

#include "compiler/base/callback.h"
#include "engine/app/exr.h"
#include "engine/app/gif.h"
#include "engine/app/output_file.h"
#include "engine/app/video.h"

namespace firn {

/// Functions that make the newest frame in the forms of files.
struct FrameSource {
    Callback<Picture()> picture;
    Callback<FloatPicture()> linear;                 // for .exr and .hdr
    Callback<void(const std::string&)> write_array;  // for .npy: writes the file
};

class Recording {
  public:
    /// Takes the frames whose number is a multiple of `every`; a video plays `rate` of them a
    /// second.
    Recording(const OutputFile& file, int every, FrameSource source, double rate = 60);

    /// Records the frame that has just been finished. Throws UserError if it cannot be written.
    void add_frame();
    /// Completes the files. Returns a message that says what was written, empty if no file was
    /// asked for.
    std::string finish();

  private:
    void write(const std::string& path);

    OutputFile file_;
    int every_;
    FrameSource source_;
    std::unique_ptr<VideoWriter> video_;
    std::unique_ptr<GifWriter> gif_;
    int frames_ = 0, written_ = 0;
};

}  // namespace firn
