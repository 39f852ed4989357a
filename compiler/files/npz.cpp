// numpy's archive of arrays: a zip file whose members are stored or compressed.
#include <algorithm>

#include "compiler/files/file.h"
#include "compiler/files/inflate.h"
#include "compiler/files/stored_tensor.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

// PKWARE, "APPNOTE.TXT", 4.3: the records of a zip file.
constexpr uint32_t kMember = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50;
constexpr size_t kMemberSize = 30, kEntrySize = 46, kEndSize = 22;
constexpr uint32_t kStored = 0, kDeflated = 8;
/// The flag that says that the name is UTF-8; without it, it is of code page 437.
constexpr uint32_t kUtf8 = 1 << 11;

[[noreturn]] void npz_fault(const std::string& path, const std::string& why) {
    refuse("file " + path + ": is no whole npz file: " + why);
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

/// Returns the place of the record at the end, which a comment of any length follows.
size_t end_record(const ZipBytes& bytes, const std::string& path) {
    if (bytes.size() < kEndSize)
        npz_fault(path, "it has " + std::to_string(bytes.size()) + " bytes");
    const size_t last = bytes.size() - kEndSize;
    for (size_t back = 0; back <= last && back < 65536; ++back)
        if (bytes.number(last - back, 4) == kEnd && bytes.number(last - back + 20, 2) == back)
            return last - back;
    npz_fault(path, "it has no record at its end");
}

/// A member as the list at the end has it.
struct Member {
    std::string name;
    uint32_t flags = 0, method = 0, crc = 0;
    uint64_t packed = 0, size = 0, at = 0;  // bytes in the file, bytes of the member, its place
};

std::vector<Member> members_of(const ZipBytes& bytes, const std::string& path) {
    const size_t end = end_record(bytes, path);
    const uint32_t count = bytes.number(end + 10, 2);
    uint64_t at = bytes.number(end + 16, 4);
    std::vector<Member> out;
    for (uint32_t k = 0; k < count; ++k) {
        if (bytes.number(at, 4) != kEntry) npz_fault(path, "its list of members is damaged");
        Member member;
        member.flags = bytes.number(at + 8, 2), member.method = bytes.number(at + 10, 2);
        member.crc = bytes.number(at + 16, 4), member.packed = bytes.number(at + 20, 4);
        member.size = bytes.number(at + 24, 4), member.at = bytes.number(at + 42, 4);
        const uint32_t name = bytes.number(at + 28, 2);
        member.name = bytes.part(at + kEntrySize, name);
        at += kEntrySize + name + bytes.number(at + 30, 2) + bytes.number(at + 32, 2);
        out.push_back(std::move(member));
    }
    return out;
}

/// The tensor's name.
std::string_view stem(std::string_view name) {
    return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
}

StoredTensor read_member(const ZipBytes& bytes, const Member& member, const std::string& path) {
    const std::string what = "file " + path + ": '" + member.name + "' ";
    if (member.method != kStored && member.method != kDeflated)
        refuse(what + "is compressed by method " + std::to_string(member.method) +
               " of zip files; write it by numpy.savez or savez_compressed");
    if (member.packed == 0xffffffffu || member.at == 0xffffffffu || (member.flags & 1) != 0)
        refuse(what + "is beyond 4 GiB, or encrypted");
    if (bytes.number(member.at, 4) != kMember)
        npz_fault(path, "'" + member.name + "' is not where it should be");
    const uint64_t begin =
        member.at + kMemberSize + bytes.number(member.at + 26, 2) + bytes.number(member.at + 28, 2);
    const std::string_view packed = bytes.part(begin, member.packed);
    std::optional<std::vector<std::byte>> data;
    if (member.method == kDeflated) {
        data = inflated(packed, member.size, Deflated::Bare);
    } else {
        const auto* first = reinterpret_cast<const std::byte*>(packed.data());
        data.emplace(first, first + packed.size());
    }
    if (!data || data->size() != member.size ||
        crc32_of({reinterpret_cast<const char*>(data->data()), data->size()}) != member.crc)
        npz_fault(path, "'" + member.name + "' is damaged");
    if (!member.name.ends_with(".npy")) npz_fault(path, "'" + member.name + "' is no array");
    StoredTensor out = parse_npy(*data, path + ": " + member.name);
    out.name = stem(member.name);
    return out;
}

/// `read(bytes, members)` of a file.
template <class Read>
auto read_archive(const std::string& path, const Read& read) {
    const std::vector<std::byte> file = read_file(path);
    const ZipBytes bytes({reinterpret_cast<const char*>(file.data()), file.size()}, path);
    return read(bytes, members_of(bytes, path));
}

void put(std::string& to, uint64_t number, size_t width) {
    for (size_t k = 0; k < width; ++k) to += static_cast<char>(number >> (8 * k) & 255);
}

/// The fields that a member's record and its entry in the list at the end have in common.
void put_common(std::string& to, const std::string& name, uint32_t crc, uint64_t size) {
    const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return c >= 0; });
    put(to, 20, 2);  // needs version 2.0
    put(to, ascii ? 0 : kUtf8, 2);
    put(to, kStored, 2);
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
    return read_archive(path, [&](const ZipBytes& bytes, const std::vector<Member>& members) {
        std::vector<StoredTensor> out;
        for (const Member& member : members) out.push_back(read_member(bytes, member, path));
        return out;
    });
}

StoredTensor read_npz(const std::string& path, const std::string& name) {
    return read_archive(path, [&](const ZipBytes& bytes, const std::vector<Member>& members) {
        std::vector<std::string> names;
        for (const Member& member : members) {
            if (stem(member.name) == name) return read_member(bytes, member, path);
            names.emplace_back(stem(member.name));
        }
        refuse_name(path, name, names);
    });
}

void write_npz(const std::string& path, const std::vector<StoredTensor>& tensors) {
    std::string all, list;
    for (const StoredTensor& each : tensors) {
        const std::string data = npy_bytes(each), name = each.name + ".npy";
        const uint32_t crc = crc32_of(data);
        const size_t at = all.size();
        if (at + data.size() >= 0xffff0000u || tensors.size() > 65000 || name.size() > 65000)
            refuse("file " + path + ": an npz file holds less than 4 GiB; write .safetensors");
        put(all, kMember, 4);
        put_common(all, name, crc, data.size());
        all += name + data;
        put(list, kEntry, 4);
        put(list, 20, 2);
        put_common(list, name, crc, data.size());
        list.append(10, '\0');  // no comment, first disk, no attributes
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
