// Saved programs as bytes: a header, and all fields behind it.
#include "compiler/program/saved_program.h"

#include <cstring>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/base/error.h"
#include "compiler/base/whole_file.h"
#include "compiler/program/check_program.h"
#include "compiler/program/saved_body.h"

namespace firn {
namespace {

/// Files of all formats from this one on are read.
constexpr uint32_t kOldestFormat = 2;

struct SavedHeader {
    char magic[8];
    uint32_t format;
    char firn[20];  // the version that wrote it
    uint64_t bytes, checksum;
};
constexpr char kSavedMagic[8] = {'f', 'i', 'r', 'n', 'p', 'r', 'o', 'g'};

uint64_t saved_checksum(std::span<const std::byte> body) {
    return XXH3_64bits(body.data(), body.size());
}

/// The bytes behind the header, which is checked, and the format that it states.
struct Body {
    std::span<const std::byte> bytes;
    uint32_t format;
};
Body body_of(std::span<const std::byte> bytes) {
    SavedHeader header{};
    if (bytes.size() < sizeof header.magic ||
        std::memcmp(bytes.data(), kSavedMagic, sizeof kSavedMagic) != 0)
        throw UserError("it is no saved program");
    if (bytes.size() < sizeof header) throw UserError("it is cut short");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.format < kOldestFormat || header.format > kSavedFormat) {
        const std::string firn(header.firn, strnlen(header.firn, sizeof header.firn));
        throw UserError("it has format " + std::to_string(header.format) + ", written by Firn " +
                        firn + ", and this is Firn " FIRN_VERSION ", which reads formats " +
                        std::to_string(kOldestFormat) + " to " + std::to_string(kSavedFormat));
    }
    const auto body = bytes.subspan(sizeof header);
    if (body.size() < header.bytes) throw UserError("it is cut short");
    if (body.size() > header.bytes) throw UserError("it has bytes behind its end");
    if (saved_checksum(body) != header.checksum)
        throw UserError("it is damaged: its bytes are not those that were written");
    return {body, header.format};
}

/// Visits each constant of a variant, and the constants of the file's first program.
template <class Visit>
void for_constants(Program& variant, const Program& first, const Visit& visit) {
    for (size_t own = 0; own < variant.buffers.size(); ++own)
        for (size_t other = 0; other < first.buffers.size(); ++other)
            if (variant.buffers[own].role == BufferRole::Constant &&
                first.buffers[other].role == BufferRole::Constant)
                visit(static_cast<int>(own), static_cast<int>(other));
}

/// Returns the program whose variants have no data that the first program has.
SavedProgram without_same_constants(const SavedProgram& saved) {
    SavedProgram out = saved;
    for (SavedVariant& variant : out.variants) {
        Program program = *variant.program;
        for_constants(program, *saved.program, [&](int own, int other) {
            auto& data = program.buffers[static_cast<size_t>(own)].data;
            if (data.empty() || data != saved.program->buffers[static_cast<size_t>(other)].data)
                return;
            data.clear();
            variant.same_constants.emplace_back(own, other);
        });
        variant.program = std::make_shared<const Program>(std::move(program));
    }
    return out;
}

/// Gives the variants of a file the data that the file has once.
void share_constants(SavedProgram& saved) {
    const auto constant = [](const Program& program, int buffer) -> const BufferInfo& {
        const auto k = static_cast<size_t>(buffer);
        if (buffer < 0 || k >= program.buffers.size() ||
            program.buffers[k].role != BufferRole::Constant)
            throw UserError("a variant shares a constant that is not there");
        return program.buffers[k];
    };
    for (SavedVariant& variant : saved.variants) {
        Program program = *variant.program;
        for (const auto& [own, other] : variant.same_constants) {
            constant(program, own);
            program.buffers[static_cast<size_t>(own)].data = constant(*saved.program, other).data;
        }
        variant.same_constants.clear();
        variant.program = std::make_shared<const Program>(std::move(program));
    }
}

}  // namespace

std::vector<std::byte> program_bytes(const SavedProgram& saved) {
    check_saved(saved);
    const std::vector<uint8_t> body = write_body(without_same_constants(saved));
    SavedHeader header{};
    std::memcpy(header.magic, kSavedMagic, sizeof kSavedMagic);
    header.format = kSavedFormat;
    constexpr std::string_view version = FIRN_VERSION;
    static_assert(version.size() < sizeof header.firn);
    std::memcpy(header.firn, version.data(), version.size());
    header.bytes = body.size();
    header.checksum = saved_checksum(std::as_bytes(std::span(body)));
    std::vector<std::byte> out(sizeof header + body.size());
    std::memcpy(out.data(), &header, sizeof header);
    std::memcpy(out.data() + sizeof header, body.data(), body.size());
    return out;
}

SavedProgram program_from_bytes(std::span<const std::byte> bytes, const std::string& origin) {
    try {
        const Body body = body_of(bytes);
        SavedProgram out = read_body(body.bytes, body.format);
        share_constants(out);
        check_saved(out);
        return out;
    } catch (const UserError& error) {
        throw UserError("program " + origin + ": cannot be read: " + error.what() +
                        "; save it anew");
    }
}

void write_program(const std::string& path, const SavedProgram& saved) {
    std::vector<std::byte> bytes;
    try {
        bytes = program_bytes(saved);
    } catch (const UserError& error) {
        throw UserError("program " + path + ": cannot be written: " + error.what());
    }
    write_whole_file(path, {{reinterpret_cast<const char*>(bytes.data()), bytes.size()}});
}

SavedProgram read_program(const std::string& path) {
    return program_from_bytes(read_whole_file(path), path);
}

}  // namespace firn
