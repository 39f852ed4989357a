// Decompresses deflate and gzip data by zlib.
#include "compiler/files/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace firn {
namespace {

/// The format has no run that says more bytes than so many with one.
constexpr uint64_t kMostRatio = 1032;

/// Sizes that zlib takes at once.
template <class T>
uInt at_once(T left) {
    return static_cast<uInt>(std::min<uint64_t>(left, std::numeric_limits<int32_t>::max()));
}

}  // namespace

std::optional<std::vector<std::byte>> inflated(std::string_view bytes, uint64_t most,
                                               Deflated form) {
    most = std::min(most, (bytes.size() + 1) * kMostRatio);
    std::vector<std::byte> out(static_cast<size_t>(most));
    z_stream stream{};
    if (inflateInit2(&stream, form == Deflated::Gzip ? 16 + MAX_WBITS : -MAX_WBITS) != Z_OK)
        return std::nullopt;
    size_t taken = 0, made = 0;
    int state = Z_OK;
    while (made < out.size() && state == Z_OK) {
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
        const uInt in = stream.avail_in = at_once(bytes.size() - taken);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
        const uInt room = stream.avail_out = at_once(out.size() - made);
        state = inflate(&stream, Z_NO_FLUSH);
        taken += in - stream.avail_in, made += room - stream.avail_out;
        // A gzip file may have several parts, one behind the other.
        if (state == Z_STREAM_END && form == Deflated::Gzip &&
            bytes.substr(taken).starts_with("\x1f\x8b"))
            state = inflateReset(&stream);
    }
    inflateEnd(&stream);
    if (state != Z_OK && state != Z_STREAM_END) return std::nullopt;
    out.resize(made);
    return out;
}

uint32_t crc32_of(std::string_view bytes) {
    return static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace firn
