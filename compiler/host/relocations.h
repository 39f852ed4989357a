// The relocations of object files for each kind of processor: where a number comes from, and how it
// lies in the code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace firn {

/// The number that a relocation puts in place. S is the address of its symbol, A what is added to
/// it, P the place. Pages have 4096 bytes.
enum class RelocationValue : uint8_t {
    None,
    Absolute,  // S + A
    Relative,  // S + A - P
    Pages,     // from P's page to that of S + A
    InPage,    // the last 12 bits of S + A
};

/// How the number lies in memory.
enum class RelocationField : uint8_t {
    None,
    Word32,    // 4 bytes with a sign
    Word64,    // 8 bytes
    Address,   // of aarch64: 21 bits with a sign of `adr` and `adrp`, of bytes or pages
    Offset12,  // of aarch64: 12 bits of `add`, or of a load, in units of its bytes
    Jump26,    // of aarch64: 26 bits with a sign of `b` and `bl`, in units of 4 bytes
};

struct Relocation {
    uint32_t type;
    RelocationValue value;
    RelocationField field;
    /// S is the address of a word that holds the symbol's address.
    bool by_table = false;
    /// It may be a call, and lead to a stub that jumps to a function which lies far away.
    bool calls = false;
    int unit = 0;  // of Offset12: the logarithm of the bytes of a load

    /// The bytes that it changes.
    uint64_t bytes() const {
        return field == RelocationField::None ? 0 : field == RelocationField::Word64 ? 8 : 4;
    }
};

/// The facts of a processor that a loader of its object files needs.
struct ObjectMachine {
    uint16_t machine;  // of the file's header
    const char* name;
    std::span<const Relocation> relocations;
    uint64_t stub_bytes;
    /// Writes a stub that jumps to the address in the word `table_entry`. `stub`: its address at
    /// run time. Returns whether it reaches the word.
    bool (*write_stub)(std::byte* at, uint64_t stub, uint64_t table_entry);

    /// Null: it has no such relocation.
    const Relocation* find(uint32_t type) const;
};

/// Null: there is none.
const ObjectMachine* object_machine(uint16_t machine);

/// Changes the bytes at `at`, whose address at run time is `place`; `target` is S + A. Returns
/// whether the number fits.
bool apply(const Relocation& relocation, std::byte* at, uint64_t place, uint64_t target);

}  // namespace firn
