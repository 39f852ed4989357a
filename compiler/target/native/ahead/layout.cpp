// The places of a call's workspace, as LLVM IR.
#include "compiler/target/native/ahead/layout.h"

#include <cstdint>
#include <vector>

#include "compiler/program/index_limits.h"
#include "compiler/target/native/ahead/call_fields.h"
#include "compiler/target/native/ahead/sizes.h"

namespace firn::ahead {
namespace {

/// Bytes at the beginning of the workspace, see kSpareMiddle.
constexpr int64_t kSpare = 192, kLine = kWorkspaceAlignment;

/// A negative one counts as none.
void check_most(IrText& text, const std::string& value, int64_t most) {
    text.leave_if(text.emit("icmp sgt i64 " + value + ", " + std::to_string(most)), "too_large");
}

void write_offset(IrText& text, size_t k, const std::string& offset) {
    const std::string place =
        text.emit("getelementptr i64, ptr %offsets, i64 " + std::to_string(k));
    text.effect("store i64 " + offset + ", ptr " + place);
}

}  // namespace

void write_code(IrText& text, const char* block, int code) {
    text.begin(block);
    text.effect("ret i32 " + std::to_string(code));
}

std::string layout_function(const Program& program, const Interface& interface,
                            const Places& places) {
    IrText text;
    std::vector<std::string> scalars;
    const SymbolValues symbols = load_symbols(text, program, interface, scalars);
    for (const std::string& name : interface.symbols)
        text.leave_if(
            text.emit("icmp ugt i64 " + symbols.at(name) + ", " + std::to_string(INT32_MAX)),
            "bad_size");
    for (size_t k = 0; k < program.guards.size(); ++k) {
        const Guard& guard = program.guards[k];
        const std::string left = write_checked_size(text, guard.left, symbols, "too_large"),
                          right = write_checked_size(text, guard.right, symbols, "too_large");
        text.leave_if(text.emit("icmp ne i64 " + left + ", " + right),
                      "guard_" + std::to_string(k));
    }
    for (const AssumedSize& assumed : program.assumed)
        if (assumed.most < INT64_MAX)
            check_most(text, write_checked_size(text, assumed.size, symbols, "too_large"),
                       assumed.most);
    std::vector<std::string> bytes;
    for (const BufferInfo& buffer : program.buffers) {
        const std::string elements =
            write_checked_size(text, buffer.elements, symbols, "too_large");
        check_most(text, elements, kMostElements);
        bytes.push_back(
            text.emit("mul i64 " + elements + ", " + std::to_string(buffer.dtype.bytes())));
    }
    std::string offset = std::to_string(kSpare);
    for (size_t k = 0; k < places.all.size(); ++k) {
        write_offset(text, k, offset);
        std::string most = "0";
        for (int buffer : places.all[k].buffers)
            most = text.emit("call i64 @llvm.smax.i64(i64 " + most + ", i64 " +
                             bytes[static_cast<size_t>(buffer)] + ")");
        const std::string end = text.emit("add i64 " + offset + ", " + most),
                          more = text.emit("add i64 " + end + ", " + std::to_string(kLine - 1));
        offset = text.emit("and i64 " + more + ", " + std::to_string(-kLine));
    }
    // A line behind the last place may be read, and the workspace begins at any address.
    write_offset(text, places.all.size(),
                 text.emit("add i64 " + offset + ", " + std::to_string(2 * kLine)));
    text.effect("ret i32 0");
    write_code(text, "bad_size", kBadSize);
    write_code(text, "too_large", kTooLarge);
    for (size_t k = 0; k < program.guards.size(); ++k)
        write_code(text, ("guard_" + std::to_string(k)).c_str(), interface.guard(k));
    return text.function("define internal i32 @firn.layout(ptr %c, ptr %offsets)");
}

std::string offsets_type(const Places& places) {
    return "[" + std::to_string(places.all.size() + 1) + " x i64]";
}

std::string place_address(IrText& text, int place) {
    if (place < 0) return "%spare";
    const std::string at = text.emit("getelementptr i64, ptr %offsets, i64 " +
                                     std::to_string(place)),
                      offset = text.emit("load i64, ptr " + at);
    return text.emit("getelementptr i8, ptr %base, i64 " + offset);
}

}  // namespace firn::ahead
