// What a run leaves of its frames: the last as a file, or all of them as a sequence or a video.
#pragma once
#include <memory>
#include <string>

#include "compiler/program/callback.h"
#include "engine/app/exr.h"
#include "engine/app/gif.h"
#include "engine/app/output_file.h"
#include "engine/app/video.h"

namespace firn {

/// The newest frame in the forms that files have; each is made when it is called.
struct FrameSource {
    Callback<Picture()> picture;
    Callback<FloatPicture()> linear;                 // for .exr and .hdr
    Callback<void(const std::string&)> write_array;  // for .npy: writes the file
};

class Recording {
  public:
    /// Of all frames, those whose number is a multiple of `every` are taken; a video plays `rate`
    /// of them a second.
    Recording(const OutputFile& file, int every, FrameSource source, double rate = 60);

    /// A frame is finished. Throws UserError where it cannot be written.
    void add_frame();
    /// Writes what is left to write. Gives what was written, for a person; empty: nothing was
    /// wanted.
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
