// PNG files by libpng, which leaves by longjmp: what it may leave has no destructors.
#include "engine/pictures/png_file.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

namespace firn {
namespace {

/// Deflate makes no more bytes than so many of one.
constexpr uint64_t kMostOfAByte = 1032;

/// The state of a read: the bytes left, libpng's structures, and the fault.
struct PngReading {
    std::string_view rest;
    std::string fault;
    png_structp png = nullptr;
    png_infop info = nullptr;

    PngReading() = default;
    PngReading(const PngReading&) = delete;
    PngReading& operator=(const PngReading&) = delete;
    ~PngReading() { png_destroy_read_struct(&png, &info, nullptr); }
};

void take_png_bytes(png_structp png, png_bytep to, size_t count) {
    auto& reading = *static_cast<PngReading*>(png_get_io_ptr(png));
    if (count > reading.rest.size()) png_error(png, "it is cut short");
    std::memcpy(to, reading.rest.data(), count);
    reading.rest.remove_prefix(count);
}

[[noreturn]] void note_png_error(png_structp png, png_const_charp why) {
    static_cast<PngReading*>(png_get_error_ptr(png))->fault = why;
    png_longjmp(png, 1);
}

[[noreturn]] void leave_png(png_structp png, png_const_charp) { png_longjmp(png, 1); }

void ignore_png_warning(png_structp, png_const_charp) {}

/// Chunks of texts and suggested palettes, which are skipped: they may unpack to a thousand times
/// their size.
constexpr png_byte kIgnoredChunks[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST";

/// Everything up to the pixels. False: see `fault`.
bool read_png_header(PngReading& reading) {
    png_structp png = reading.png;
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_read_fn(png, &reading, take_png_bytes);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_picture_size says more
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, kIgnoredChunks,
                                sizeof kIgnoredChunks / 5);
    png_read_info(png, reading.info);
    return true;
}

/// Asks for 1 to 4 channels of 8 or 16 bits, and gives the bytes of a row.
bool expand_png(PngReading& reading, size_t* row_bytes, int* passes) {
    png_structp png = reading.png;
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_expand(png);
    png_set_swap(png);  // the file has the high byte first
    *passes = png_set_interlace_handling(png);
    png_read_update_info(png, reading.info);
    *row_bytes = png_get_rowbytes(png, reading.info);
    return true;
}

bool read_png_pixels(PngReading& reading, uint8_t* to, size_t row_bytes, int passes, int rows) {
    png_structp png = reading.png;
    if (setjmp(png_jmpbuf(png))) return false;
    for (int pass = 0; pass < passes; ++pass)
        for (int row = 0; row < rows; ++row)
            png_read_row(png, to + static_cast<size_t>(row) * row_bytes, nullptr);
    png_read_end(png, reading.info);
    return true;
}

/// The exponent of a file that says nothing else of its colours.
double gamma_of(const PngReading& reading) {
    double gamma = 0;
    if (png_get_valid(reading.png, reading.info, PNG_INFO_sRGB | PNG_INFO_iCCP) != 0) return 0;
    return png_get_gAMA(reading.png, reading.info, &gamma) != 0 ? gamma : 0;
}

}  // namespace

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

Samples read_png(const std::string& path, std::string_view bytes) {
    PngReading reading;
    reading.rest = bytes;
    const auto fail = [&] {
        fail_picture(path, "cannot be read (" + reading.fault + "); name a whole PNG file");
    };
    reading.png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, note_png_error, ignore_png_warning);
    reading.info = reading.png ? png_create_info_struct(reading.png) : nullptr;
    reading.fault = "there is no memory for it";
    if (!reading.info || !read_png_header(reading)) fail();
    check_picture_size(path, png_get_image_width(reading.png, reading.info),
                       png_get_image_height(reading.png, reading.info));
    const uint64_t packed_row = png_get_rowbytes(reading.png, reading.info);
    Samples out;
    out.width = static_cast<int>(png_get_image_width(reading.png, reading.info));
    out.height = static_cast<int>(png_get_image_height(reading.png, reading.info));
    // Checks the size before memory is allocated for it.
    reading.fault = "it is cut short";
    if (packed_row * static_cast<uint64_t>(out.height) > (bytes.size() + 1) * kMostOfAByte) fail();
    size_t row_bytes = 0;
    int passes = 0;
    if (!expand_png(reading, &row_bytes, &passes)) fail();
    out.channels = png_get_channels(reading.png, reading.info);
    out.gamma = gamma_of(reading);
    uint8_t* to = nullptr;
    if (png_get_bit_depth(reading.png, reading.info) == 16) {
        out.wide.resize(count_of(out));
        to = reinterpret_cast<uint8_t*>(out.wide.data());
    } else {
        out.narrow.resize(count_of(out));
        to = out.narrow.data();
    }
    if (!read_png_pixels(reading, to, row_bytes, passes, out.height)) fail();
    png_bytep block = nullptr;
    png_uint_32 size = 0;
    if (png_get_eXIf_1(reading.png, reading.info, &size, &block) != 0)
        orient(out, exif_orientation(block, size));
    return out;
}

bool write_png_to(FILE* file, const Samples& picture) {
    constexpr int kKinds[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGB_ALPHA};
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, leave_png, ignore_png_warning);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    const bool wide = !picture.wide.empty();
    const auto* from =
        wide ? reinterpret_cast<png_const_bytep>(picture.wide.data()) : picture.narrow.data();
    const size_t row_bytes =
        static_cast<size_t>(picture.width) * static_cast<size_t>(picture.channels) * (wide ? 2 : 1);
    png_init_io(png, file);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width),
                 static_cast<png_uint_32>(picture.height), wide ? 16 : 8,
                 kKinds[picture.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    // Half the time of the default, 6, for files of the same size (photographs, adaptive filters).
    png_set_compression_level(png, 4);
    png_write_info(png, info);
    png_set_swap(png);  // the file has the high byte first
    for (int row = 0; row < picture.height; ++row)
        png_write_row(png, from + static_cast<size_t>(row) * row_bytes);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

}  // namespace firn
