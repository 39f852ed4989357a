// JPEG files by libjpeg-turbo, which leaves by longjmp: what it may leave has no destructors.
#include "engine/pictures/jpeg_file.h"

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <memory>
// This header uses FILE without including cstdio.
#include <jerror.h>
#include <jpeglib.h>

namespace firn {
namespace {

constexpr int kJpegQuality = 95;
/// The most scans of a progressive file. No encoder writes more, and each costs a pass over all
/// pixels.
constexpr int kMostScans = 500;

/// libjpeg's errors, and where they lead.
struct JpegErrors {
    jpeg_error_mgr manager;  // the first, so that one is the other's address
    jmp_buf back;
    char fault[JMSG_LENGTH_MAX];
};

[[noreturn]] void note_jpeg_error(j_common_ptr jpeg) {
    auto* errors = reinterpret_cast<JpegErrors*>(jpeg->err);
    jpeg->err->format_message(jpeg, errors->fault);
    longjmp(errors->back, 1);
}

/// Damage that libjpeg would hide behind grey is an error, as its end is.
void note_jpeg_message(j_common_ptr jpeg, int level) {
    if (level >= 0) return;  // it is no warning
    const int code = jpeg->err->msg_code;
    if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
        code == JWRN_MUST_RESYNC)
        note_jpeg_error(jpeg);
}

void ignore_jpeg_text(j_common_ptr) {}

jpeg_error_mgr* start_jpeg_errors(JpegErrors& errors) {
    errors.fault[0] = '\0';
    jpeg_error_mgr* out = jpeg_std_error(&errors.manager);
    out->error_exit = note_jpeg_error;
    out->emit_message = note_jpeg_message;
    out->output_message = ignore_jpeg_text;
    return out;
}

struct JpegReading {
    JpegErrors errors;
    jpeg_progress_mgr progress{};
    jpeg_decompress_struct jpeg{};

    JpegReading() { jpeg.err = start_jpeg_errors(errors); }
    JpegReading(const JpegReading&) = delete;
    JpegReading& operator=(const JpegReading&) = delete;
    ~JpegReading() { jpeg_destroy_decompress(&jpeg); }
};

void check_jpeg_scans(j_common_ptr jpeg) {
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostScans) return;
    auto* errors = reinterpret_cast<JpegErrors*>(jpeg->err);
    std::snprintf(errors->fault, sizeof errors->fault, "it has more than %d scans", kMostScans);
    longjmp(errors->back, 1);
}

bool read_jpeg_header(JpegReading& reading, std::string_view bytes) {
    jpeg_decompress_struct& jpeg = reading.jpeg;
    if (setjmp(reading.errors.back)) return false;
    jpeg_create_decompress(&jpeg);
    jpeg.progress = &reading.progress;
    reading.progress.progress_monitor = check_jpeg_scans;
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_save_markers(&jpeg, JPEG_APP0 + 1, 0xffff);  // EXIF
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = jpeg.num_components == 1   ? JCS_GRAYSCALE
                           : jpeg.num_components == 4 ? JCS_CMYK
                                                      : JCS_RGB;
    return true;
}

bool start_jpeg(JpegReading& reading) {
    if (setjmp(reading.errors.back)) return false;
    jpeg_start_decompress(&reading.jpeg);
    return true;
}

/// The next row, behind those that `to` has.
bool read_jpeg_row(JpegReading& reading, uint8_t* to) {
    if (setjmp(reading.errors.back)) return false;
    JSAMPROW row = to;
    while (jpeg_read_scanlines(&reading.jpeg, &row, 1) != 1) {
    }
    return true;
}

bool end_jpeg(JpegReading& reading) {
    if (setjmp(reading.errors.back)) return false;
    jpeg_finish_decompress(&reading.jpeg);
    return true;
}

/// Amounts of ink as light. Adobe's programs, which write most of these files, write what the ink
/// leaves.
void to_rgb(uint8_t* row, size_t width, bool inverted) {
    for (size_t x = 0; x < width; ++x) {
        const auto left = [&](size_t c) {
            return uint32_t{inverted ? row[4 * x + c] : uint8_t(255 - row[4 * x + c])};
        };
        const uint32_t black = left(3);
        const uint32_t rgb[] = {left(0) * black, left(1) * black, left(2) * black};
        for (size_t c = 0; c < 3; ++c) row[3 * x + c] = static_cast<uint8_t>((rgb[c] + 127) / 255);
    }
}

int orientation_of(const jpeg_decompress_struct& jpeg) {
    constexpr std::string_view kExif{"Exif\0\0", 6};
    for (auto* marker = jpeg.marker_list; marker; marker = marker->next) {
        const std::string_view data(reinterpret_cast<const char*>(marker->data),
                                    marker->data_length);
        if (data.starts_with(kExif))
            return exif_orientation(marker->data + kExif.size(), data.size() - kExif.size());
    }
    return 1;
}

}  // namespace

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

Samples read_jpeg(const std::string& path, std::string_view bytes) {
    const auto reading = std::make_unique<JpegReading>();
    jpeg_decompress_struct& jpeg = reading->jpeg;
    const auto fail = [&] {
        fail_picture(path, std::string("cannot be read (") + reading->errors.fault +
                               "); name a whole JPEG file");
    };
    if (!read_jpeg_header(*reading, bytes)) fail();
    check_picture_size(path, jpeg.image_width, jpeg.image_height);
    if (!start_jpeg(*reading)) fail();
    Samples out;
    out.width = static_cast<int>(jpeg.output_width),
    out.height = static_cast<int>(jpeg.output_height);
    const bool cmyk = jpeg.out_color_space == JCS_CMYK;
    out.channels = jpeg.out_color_space == JCS_GRAYSCALE ? 1 : 3;
    const size_t width = jpeg.output_width, row_size = width * static_cast<size_t>(out.channels);
    std::vector<uint8_t> row(width * static_cast<size_t>(jpeg.output_components));
    // Memory is only reserved here and filled row by row, since a damaged header may claim too
    // much.
    out.narrow.reserve(count_of(out));
    for (int y = 0; y < out.height; ++y) {
        if (!read_jpeg_row(*reading, row.data())) fail();
        if (cmyk) to_rgb(row.data(), width, jpeg.saw_Adobe_marker != 0);
        out.narrow.insert(out.narrow.end(), row.data(), row.data() + row_size);
    }
    const int orientation = orientation_of(jpeg);
    if (!end_jpeg(*reading)) fail();
    orient(out, orientation);
    return out;
}

void check_jpeg_size(const std::string& path, int width, int height) {
    if (width <= JPEG_MAX_DIMENSION && height <= JPEG_MAX_DIMENSION) return;
    fail_picture(path, std::to_string(width) + " x " + std::to_string(height) +
                           " pixels are more than the " + std::to_string(JPEG_MAX_DIMENSION) +
                           " that a side of a JPEG has at most; name a .png or an .exr");
}

bool write_jpeg_to(FILE* file, const Samples& picture) {
    JpegErrors errors;
    jpeg_compress_struct jpeg{};
    jpeg.err = start_jpeg_errors(errors);
    if (setjmp(errors.back)) {
        jpeg_destroy_compress(&jpeg);
        return false;
    }
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = static_cast<JDIMENSION>(picture.width);
    jpeg.image_height = static_cast<JDIMENSION>(picture.height);
    jpeg.input_components = picture.channels;
    jpeg.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, kJpegQuality, TRUE);
    // Colours as fine as brightness: red letters on blue stay sharp.
    jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&jpeg, TRUE);
    const size_t row_bytes =
        static_cast<size_t>(picture.width) * static_cast<size_t>(picture.channels);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(&picture.narrow[jpeg.next_scanline * row_bytes]);
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return true;
}

}  // namespace firn
