// numpy's archive of arrays: a zip file whose members are stored, not compressed.
#include <array>

#include "compiler/files/file.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

// PKWARE, "APPNOTE.TXT", 4.3: the records of a zip file.
constexpr uint32_t kMember = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50;
constexpr size_t kMemberSize = 30, kEntrySize = 46, kEndSize = 22;

[[noreturn]] void npz_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": is no whole npz file: " + why);
}

uint32_t crc32(std::string_view bytes) {
    static const auto table = [] {
        std::array<uint32_t, 256> out{};
        for (uint32_t k = 0; k < 256; ++k) {
            uint32_t c = k;
            for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
            out[k] = c;
        }
        return out;
    }();
    uint32_t crc = ~0u;
    for (char byte : bytes) crc = table[(crc ^ static_cast<uint8_t>(byte)) & 255] ^ (crc >> 8);
    return ~crc;
}

/// Little-endian numbers at places that are checked.
class ZipBytes {
  public:
    ZipBytes(std::string_view all, const std::string& path) : all_(all), path_(path) {}
    std::string_view part(uint64_t at, uint64_t size) const {
        if (at > all_.size() || size > all_.size() - at) npz_fault(path_, "it is cut short");
        return all_.substr(static_cast<size_t>(at), static_cast<size_t>(size));
    }
    uint32_t number(uint64_t at, size_t width) const {
        uint32_t out = 0;
        const std::string_view bytes = part(at, width);
        for (size_t k = 0; k < width; ++k)
            out |= uint32_t(static_cast<uint8_t>(bytes[k])) << (8 * k);
        return out;
    }
    size_t size() const { return all_.size(); }

  private:
    std::string_view all_;
    std::string path_;
};

/// Where the record at the end lies: before a comment of any length.
size_t end_record(const ZipBytes& bytes, const std::string& path) {
    if (bytes.size() < kEndSize)
        npz_fault(path, "it has " + std::to_string(bytes.size()) + " bytes");
    const size_t last = bytes.size() - kEndSize;
    for (size_t back = 0; back <= last && back < 65536; ++back)
        if (bytes.number(last - back, 4) == kEnd && bytes.number(last - back + 20, 2) == back)
            return last - back;
    npz_fault(path, "it has no record at its end");
}

StoredTensor read_member(const ZipBytes& bytes, uint64_t entry, const std::string& path) {
    std::string name(bytes.part(entry + kEntrySize, bytes.number(entry + 28, 2)));
    if (bytes.number(entry + 10, 2) != 0)
        refuse("file " + path + ": '" + name +
               "' is compressed; write it by numpy.savez, not savez_compressed");
    const uint64_t size = bytes.number(entry + 20, 4), at = bytes.number(entry + 42, 4);
    if (size == 0xffffffffu || at == 0xffffffffu || (bytes.number(entry + 8, 2) & 1) != 0)
        refuse("file " + path + ": '" + name + "' is beyond 4 GiB, or encrypted");
    if (bytes.number(at, 4) != kMember) npz_fault(path, "'" + name + "' is not where it should be");
    const uint64_t begin = at + kMemberSize + bytes.number(at + 26, 2) + bytes.number(at + 28, 2);
    const std::string_view data = bytes.part(begin, size);
    if (crc32(data) != bytes.number(entry + 16, 4)) npz_fault(path, "'" + name + "' is damaged");
    if (!name.ends_with(".npy")) npz_fault(path, "'" + name + "' is no array");
    const auto* first = reinterpret_cast<const std::byte*>(data.data());
    StoredTensor out = parse_npy({first, first + data.size()}, path + ": " + name);
    out.name = name.substr(0, name.size() - 4);
    return out;
}

void put(std::string& to, uint64_t number, size_t width) {
    for (size_t k = 0; k < width; ++k) to += static_cast<char>(number >> (8 * k) & 255);
}

/// What a member's record and its entry in the list at the end have alike.
void put_common(std::string& to, const std::string& name, uint32_t crc, uint64_t size) {
    put(to, 20, 2);    // needs version 2.0
    put(to, 0, 4);     // no flags, stored
    put(to, 0, 2);     // midnight
    put(to, 0x21, 2);  // of the first of January 1980, so that equal files are equal
    put(to, crc, 4);
    put(to, size, 4);
    put(to, size, 4);
    put(to, name.size(), 2);
    put(to, 0, 2);
}

}  // namespace

std::vector<StoredTensor> read_npz(const std::string& path) {
    const std::vector<std::byte> file = read_file(path);
    const ZipBytes bytes({reinterpret_cast<const char*>(file.data()), file.size()}, path);
    const size_t end = end_record(bytes, path);
    const uint32_t count = bytes.number(end + 10, 2);
    uint64_t at = bytes.number(end + 16, 4);
    std::vector<StoredTensor> out;
    for (uint32_t k = 0; k < count; ++k) {
        if (bytes.number(at, 4) != kEntry) npz_fault(path, "its list of members is damaged");
        out.push_back(read_member(bytes, at, path));
        at += kEntrySize + bytes.number(at + 28, 2) + bytes.number(at + 30, 2) +
              bytes.number(at + 32, 2);
    }
    return out;
}

void write_npz(const std::string& path, const std::vector<StoredTensor>& tensors) {
    std::string all, list;
    for (const StoredTensor& each : tensors) {
        const std::string data = npy_bytes(each), name = each.name + ".npy";
        const uint32_t crc = crc32(data);
        const size_t at = all.size();
        if (at + data.size() >= 0xffff0000u || tensors.size() > 65000 || name.size() > 65000)
            refuse("file " + path + ": an npz file holds less than 4 GiB; write .safetensors");
        put(all, kMember, 4);
        put_common(all, name, crc, data.size());
        all += name + data;
        put(list, kEntry, 4);
        put(list, 20, 2);
        put_common(list, name, crc, data.size());
        put(list, 0, 10);  // no comment, first disk, no attributes
        put(list, at, 4);
        list += name;
    }
    std::string end;
    put(end, kEnd, 4);
    put(end, 0, 4);
    put(end, tensors.size(), 2);
    put(end, tensors.size(), 2);
    put(end, list.size(), 4);
    put(end, all.size(), 4);
    put(end, 0, 2);
    write_file(path, {all, list, end});
}

}  // namespace firn
