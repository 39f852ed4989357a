// The frames of a run as files.
#include "engine/app/recording.h"

#include <utility>

namespace firn {

Recording::Recording(const OutputFile& file, int every, FrameSource source, double rate)
    : file_(file), every_(every), source_(std::move(source)) {
    if (file.kind == OutputFile::Kind::Video)
        video_ = std::make_unique<VideoWriter>(file.path, rate);
    if (file.kind == OutputFile::Kind::Gif) gif_ = std::make_unique<GifWriter>(file.path, rate);
}

void Recording::write(const std::string& path) {
    switch (file_.kind) {
        case OutputFile::Kind::Picture: return write_picture(path, source_.picture());
        case OutputFile::Kind::Light:
            return ending_of(path) == ".hdr" ? write_hdr(path, source_.linear())
                                             : write_exr(path, source_.linear());
        case OutputFile::Kind::Npy: return source_.write_array(path);
        case OutputFile::Kind::None:
        case OutputFile::Kind::Video:
        case OutputFile::Kind::Gif: break;
    }
}

void Recording::add_frame() {
    if (!file_.takes_all_frames() || ++frames_ % every_ != 0) return;
    ++written_;
    if (video_)
        video_->add(source_.picture());
    else if (gif_)
        gif_->add(source_.picture());
    else
        write(frame_path(file_, written_));
}

std::string Recording::finish() {
    if (file_.kind == OutputFile::Kind::None) return "";
    if (video_) return video_->finish();
    if (gif_) return gif_->finish();
    if (!file_.sequence) {
        write(file_.path);
        return file_.path;
    }
    if (written_ == 0) return "nothing: no frame was drawn";
    return std::to_string(written_) + " files, " + frame_path(file_, 1) + " to " +
           frame_path(file_, written_);
}

}  // namespace firn
