// Picture files by their endings and their beginnings.
#include "engine/firn/image_files.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/algorithms/colour.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/host_view.h"
#include "compiler/frontend/movement.h"
#include "engine/firn/at_line.h"
#include "engine/firn/frame_numbers.h"
#include "engine/pictures/formats.h"
#include "engine/window/view.h"

namespace firn {
namespace {

/// The elements of a picture as parts of the largest number of `T`.
template <class T>
std::vector<T> in_integers(const Tensor& x, SourceLine line) {
    constexpr float most = std::numeric_limits<T>::max();
    // Half a step more, then cut off; the comparison is false for nan, which becomes black.
    const auto nearest = [](float value) {
        return static_cast<T>((value > 0 ? std::min(value, 1.0f) : 0.0f) * most + 0.5f);
    };
    if (x.dtype() == f32) {
        const HostView<float> from = host_view<float>(x, line);
        std::vector<T> out(from.size());
        std::transform(from.begin(), from.end(), out.begin(), nearest);
        return out;
    }
    if (x.dtype() == (sizeof(T) == 1 ? u8 : u16)) {
        const HostView<T> from = host_view<T>(x, line);
        return {from.begin(), from.end()};
    }
    const StoredTensor from = stored("picture", x);
    std::vector<T> out(from.bytes.size() / static_cast<size_t>(file_bytes(from.dtype)));
    for (size_t k = 0; k < out.size(); ++k) out[k] = nearest(shown_element(from, k));
    return out;
}

/// A tensor that takes the pixels of a file, in the device's memory if the host can write it.
class PictureTensor {
  public:
    PictureTensor(int channels, SourceLine line) : channels_(channels), line_(line) {}

    float* room(int width, int height) {
        writing_.emplace(Shape{height, width, channels_}, f32, line_, HostWriting::Unset);
        return reinterpret_cast<float*>(writing_->data());
    }
    Tensor finish() { return writing_->finish(); }

  private:
    int channels_;
    SourceLine line_;
    std::optional<HostWriting> writing_;
};

/// Numbers that are light^gamma, or those of sRGB where it is 0.
Tensor to_light(const Tensor& x, double gamma, bool alpha) {
    if (gamma == 1) return x;
    const Tensor light = gamma > 0 ? pow(x, static_cast<float>(1 / gamma)) : srgb_to_linear(x);
    return alpha ? select(index(x, 2) < 3, light, x) : light;
}

}  // namespace

Tensor load_image(const std::string& path, const LoadImageOptions& options, SourceLine line) {
    LineScope at(line);
    PictureTensor out(options.alpha ? 4 : 3, line);
    const int channels = options.alpha ? 4 : 3;
    const auto room = [&](int width, int height) { return out.room(width, height); };
    NumbersOf numbers{true, 0};
    at_line(line, [&] {
        if (is_exr(path)) return read_exr(path, options.layer, channels, room);
        if (!options.layer.empty())
            refuse("picture " + path + ": only OpenEXR files have layers; leave '" + options.layer +
                   "' out");
        numbers = read_floats(path, channels, room);
    });
    const Tensor picture = out.finish();
    return options.linear && !numbers.is_light ? to_light(picture, numbers.gamma, options.alpha)
                                               : picture;
}

namespace {

/// The numbers of bits that a format's channels may have.
struct WrittenFormat {
    const char* ending;
    std::vector<int> bits;
};
const WrittenFormat& written_format(const std::string& path, int bits) {
    static const WrittenFormat kFormats[] = {
        {".png", {8, 16}}, {".jpg", {8}}, {".jpeg", {8}}, {".exr", {16, 32}}, {".hdr", {8}}};
    const std::string ending = ending_of(path);
    const auto format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                     [&](const WrittenFormat& f) { return f.ending == ending; });
    if (format == std::end(kFormats))
        refuse("picture " + path + ": the name ends in " + (ending.empty() ? "no format" : ending) +
               "; pictures are written as .png, .jpg, .exr and .hdr");
    const std::vector<int>& known = format->bits;
    if (bits != 0 && std::find(known.begin(), known.end(), bits) == known.end()) {
        std::string all;
        for (int each : known) all += (all.empty() ? "" : " or ") + std::to_string(each);
        refuse("picture " + path + ": " + ending + " has no channels of " + std::to_string(bits) +
               " bits; it has " + all + ", and .png 8 or 16, .exr 16 or 32");
    }
    return *format;
}

/// The same numbers in the type of an EXR's channels.
Tensor exr_numbers(const Tensor& x, int bits) {
    const DType dtype = x.dtype();
    if (bits == 0 && (dtype == f16 || dtype == u32)) return x;
    const float unit = shown_unit(dtype);
    const Tensor numbers = dtype == f32 ? x : unit == 1 ? x.as(f32) : x.as(f32) * unit;
    return bits == 16 ? numbers.as(f16) : numbers;
}

ExrType exr_type(DType dtype) {
    return dtype == f16 ? ExrType::Half : dtype == u32 ? ExrType::Uint : ExrType::Float;
}

void save_exr(const std::string& path, const std::vector<NamedTensor>& layers, int bits,
              SourceLine line) {
    std::vector<HostBytes> elements;
    std::vector<ExrLayer> out;
    for (const NamedTensor& each : layers) {
        const Tensor numbers = exr_numbers(each.value, bits);
        elements.push_back(host_bytes(numbers, numbers.dtype(), line));
        const std::vector<int64_t>& shape = elements.back().shape;
        out.push_back({each.name, shape.size() == 3 ? static_cast<int>(shape[2]) : 1,
                       exr_type(numbers.dtype()), elements.back().data});
    }
    write_exr(path, static_cast<int>(elements[0].shape[1]), static_cast<int>(elements[0].shape[0]),
              out);
}

void check_saved(const Tensor& x) {
    std::vector<int64_t> shape;
    for (const Size& size : x.shape()) shape.push_back(size.constant());
    check_picture("save_image", x.dtype(), shape);
}

}  // namespace

void save_image(const std::string& path, const Tensor& x, const SaveImageOptions& options,
                SourceLine line) {
    LineScope at(line);
    const std::string ending = written_format(path, options.bits).ending;
    at_line(line, [&] {
        check_saved(x);
        if (ending == ".exr") return save_exr(path, {{"", x}}, options.bits, line);
        const Shape shape = x.shape();
        Samples out;
        out.width = static_cast<int>(shape[1].constant());
        out.height = static_cast<int>(shape[0].constant());
        out.channels = shape.size() == 3 ? static_cast<int>(shape[2].constant()) : 1;
        if (ending == ".hdr") {
            if (x.dtype() != f32) return write_hdr(path, float_picture(stored("picture", x)));
            const HostView<float> from = host_view<float>(x, line);
            return write_hdr(path, out.width, out.height, out.channels, from.data());
        }
        if (ending == ".png" && (options.bits == 16 || (options.bits == 0 && x.dtype() == u16)))
            out.wide = in_integers<uint16_t>(x, line);
        else
            out.narrow = in_integers<uint8_t>(x, line);
        write_samples(path, out);
    });
}

void save_image(const std::string& path, const std::vector<NamedTensor>& layers,
                const SaveImageOptions& options, SourceLine line) {
    LineScope at(line);
    if (written_format(path, options.bits).ending != std::string(".exr"))
        refuse("picture " + path + ": only OpenEXR files have layers; name an .exr");
    if (layers.empty()) refuse("picture " + path + ": there are no layers; give one at least");
    at_line(line, [&] {
        for (const NamedTensor& each : layers) {
            check_saved(each.value);
            const Shape size = each.value.shape(), first = layers[0].value.shape();
            for (size_t axis = 0; axis < 2; ++axis)
                if (size[axis].constant() != first[axis].constant())
                    throw UserError("picture " + path + ": the layer '" + each.name + "' is " +
                                    text(size) + " and the first one " + text(first) +
                                    "; give all of them one height and width");
            for (const NamedTensor* before = &layers[0]; before != &each; ++before)
                if (before->name == each.name)
                    throw UserError("picture " + path + ": two layers have the name '" + each.name +
                                    "'; give each its own");
        }
        save_exr(path, layers, options.bits, line);
    });
}

}  // namespace firn
