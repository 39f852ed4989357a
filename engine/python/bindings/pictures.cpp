// Pictures in Python: frames and tensors as pixels of the host, as PNG files in memory, as films.
#include <cstdlib>

#include "engine/app/gif.h"
#include "engine/app/video.h"
#include "engine/firn/at_line.h"
#include "engine/pictures/png_file.h"
#include "engine/python/bindings/window.h"
#include "engine/window/host_picture.h"
#include "engine/window/view_binding.h"

namespace firn::python {

namespace {

/// Draws a tensor as a window of `size` does, on the host.
Picture picture_of(const Tensor& x, WindowSize size, const ShowOptions& options, SourceLine line) {
    const TensorMemory tensor = memory_of(x, line);
    Frame frame;
    DrawScene& scene = frame.views[0].scene;
    scene.picture = {tensor.memory, 0, tensor.dtype, tensor.shape};
    scene.options = options;
    at_line(line, [&] { check_showable(scene.picture); });
    const Session session = current_session();
    return host_picture(frame,
                        {static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height)},
                        [&](const BufferView& view) {
                            std::vector<std::byte> bytes(
                                static_cast<size_t>(firn::elements_of(view) * view.dtype.bytes()));
                            session.executor().read(*view.memory, view.offset, bytes);
                            return bytes;
                        });
}

/// Writes pictures as an animated file by its name's ending, .gif or .mp4.
std::string write_film(const std::string& path, const std::vector<Picture>& pictures, double rate) {
    const auto all = [&](auto&& writer) {
        for (const Picture& each : pictures) writer.add(each);
        return writer.finish();
    };
    const std::string ending = ending_of(path);
    if (ending == ".gif") return all(GifWriter(path, rate));
    if (ending == ".mp4") return all(VideoWriter(path, rate));
    throw UserError("a film is written as .gif, .mp4 or .png, and not as '" + path + "'");
}

/// Red, green and blue: frames are opaque.
Samples samples_of(const Picture& picture) {
    Samples out;
    out.width = picture.width;
    out.height = picture.height;
    out.channels = 3;
    const size_t pixels = picture.rgba.size() / 4;
    out.narrow.resize(3 * pixels);
    for (size_t k = 0; k < pixels; ++k) std::copy_n(&picture.rgba[4 * k], 3, &out.narrow[3 * k]);
    return out;
}

/// A file in memory.
class MemoryFile {
  public:
    MemoryFile() : file(open_memstream(&bytes_, &size_)) {
        if (!file) throw std::bad_alloc();
    }
    ~MemoryFile() {
        close();
        std::free(bytes_);
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    std::string_view take() {
        close();
        return {bytes_, size_};
    }
    FILE* file;

  private:
    void close() {
        if (file) std::fclose(file);
        file = nullptr;
    }
    char* bytes_ = nullptr;
    size_t size_ = 0;
};

/// The bytes of a PNG file.
py::bytes png_of(const Picture& picture) {
    MemoryFile file;
    const bool written = without_gil([&] { return write_png_to(file.file, samples_of(picture)); });
    if (!written) throw UserError("the picture could not be encoded as a PNG");
    const std::string_view bytes = file.take();
    return {bytes.data(), bytes.size()};
}

}  // namespace

void bind_pictures(py::module_& m) {
    py::class_<Picture>(
        m, "Picture",
        "A picture of the host: rows from the top, red, green, blue and alpha in 8 bits. "
        "numpy.asarray(picture) is uint8[height, width, 4].",
        py::buffer_protocol())
        .def_readonly("width", &Picture::width)
        .def_readonly("height", &Picture::height)
        .def("png", &png_of, "The bytes of a PNG file.")
        .def("_repr_png_", &png_of)
        .def(
            "save",
            [](const Picture& self, const py::object& path) {
                const Line line;
                const auto to = py::module_::import("os").attr("fspath")(path).cast<std::string>();
                at_line(line.at, [&] { write_picture(to, self); });
            },
            py::arg("path"), "Writes a .png or .jpg.")
        .def("__repr__",
             [](const Picture& self) {
                 return "<firn.Picture of " + std::to_string(self.width) + "x" +
                        std::to_string(self.height) + ">";
             })
        .def_buffer([](Picture& self) {
            const auto width = static_cast<py::ssize_t>(self.width);
            return py::buffer_info(self.rgba.data(), 1, "B", 3, {self.height, self.width, 4},
                                   {4 * width, py::ssize_t{4}, py::ssize_t{1}}, true);
        });
    m.def(
        "_picture",
        [](const py::object& given, const py::object& size, const py::object& colormap,
           const py::object& range, bool smooth) {
            const Line line;
            const Tensor x = shown_tensor(given, line.at);
            const WindowSize wanted = window_size_of(size);
            const ShowOptions options = show_options(colormap, range, smooth, 1, false, "");
            return without_gil([&] { return picture_of(x, wanted, options, line.at); });
        },
        py::arg("x"), py::arg("size"), py::arg("colormap"), py::arg("range"), py::arg("smooth"));
    m.def(
        "_compute",
        [](const Tensor& x) {
            const Line line;
            without_gil([&] { memory_of(x, line.at); });
        },
        py::arg("x"));
    m.def(
        "_write_film",
        [](const std::string& path, const std::vector<Picture>& pictures, double rate) {
            const Line line;
            return without_gil(
                [&] { return at_line(line.at, [&] { return write_film(path, pictures, rate); }); });
        },
        py::arg("path"), py::arg("pictures"), py::arg("rate"));
}

}  // namespace firn::python
