// The relocations of object files for each kind of processor.
#include "compiler/host/relocations.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace firn {
namespace {

using Value = RelocationValue;
using Field = RelocationField;

constexpr uint64_t kPage = 4096;

constexpr Relocation kX86[] = {
    {R_X86_64_NONE, Value::None, Field::None},
    {R_X86_64_64, Value::Absolute, Field::Word64},
    {R_X86_64_PC64, Value::Relative, Field::Word64},
    {R_X86_64_PC32, Value::Relative, Field::Word32, false, true},
    {R_X86_64_PLT32, Value::Relative, Field::Word32, false, true},
    {R_X86_64_GOTPCREL, Value::Relative, Field::Word32, true},
    {R_X86_64_GOTPCRELX, Value::Relative, Field::Word32, true},
    {R_X86_64_REX_GOTPCRELX, Value::Relative, Field::Word32, true},
};

constexpr Relocation kAarch64[] = {
    {R_AARCH64_NONE, Value::None, Field::None},
    {R_AARCH64_ABS64, Value::Absolute, Field::Word64},
    {R_AARCH64_PREL64, Value::Relative, Field::Word64},
    {R_AARCH64_PREL32, Value::Relative, Field::Word32},
    {R_AARCH64_ADR_PREL_LO21, Value::Relative, Field::Address},
    {R_AARCH64_ADR_PREL_PG_HI21, Value::Pages, Field::Address},
    {R_AARCH64_ADD_ABS_LO12_NC, Value::InPage, Field::Offset12},
    {R_AARCH64_LDST8_ABS_LO12_NC, Value::InPage, Field::Offset12},
    {R_AARCH64_LDST16_ABS_LO12_NC, Value::InPage, Field::Offset12, false, false, 1},
    {R_AARCH64_LDST32_ABS_LO12_NC, Value::InPage, Field::Offset12, false, false, 2},
    {R_AARCH64_LDST64_ABS_LO12_NC, Value::InPage, Field::Offset12, false, false, 3},
    {R_AARCH64_LDST128_ABS_LO12_NC, Value::InPage, Field::Offset12, false, false, 4},
    {R_AARCH64_JUMP26, Value::Relative, Field::Jump26, false, true},
    {R_AARCH64_CALL26, Value::Relative, Field::Jump26, false, true},
    {R_AARCH64_ADR_GOT_PAGE, Value::Pages, Field::Address, true},
    {R_AARCH64_LD64_GOT_LO12_NC, Value::InPage, Field::Offset12, true, false, 3},
};

/// A number with a sign fits into so many bits.
bool fits(int64_t number, int bits) {
    return number >= -(int64_t{1} << (bits - 1)) && number < int64_t{1} << (bits - 1);
}

void put(std::byte* at, const void* from, size_t bytes) { std::memcpy(at, from, bytes); }

/// Replaces the bits of an instruction that `mask` names.
void put_bits(std::byte* at, uint32_t mask, uint32_t bits) {
    uint32_t instruction;
    std::memcpy(&instruction, at, sizeof instruction);
    instruction = (instruction & ~mask) | (bits & mask);
    put(at, &instruction, sizeof instruction);
}

/// jmp [rip + offset]
bool write_stub_of_x86(std::byte* at, uint64_t stub, uint64_t table_entry) {
    constexpr unsigned char kStub[] = {0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc};
    put(at, kStub, sizeof kStub);
    const auto offset = static_cast<int64_t>(table_entry - (stub + 6));
    const auto narrow = static_cast<int32_t>(offset);
    put(at + 2, &narrow, sizeof narrow);
    return fits(offset, 32);
}

/// adrp x16, page; ldr x16, [x16, offset]; br x16; brk 1
bool write_stub_of_aarch64(std::byte* at, uint64_t stub, uint64_t table_entry) {
    constexpr uint32_t kStub[] = {0x90000010, 0xf9400210, 0xd61f0200, 0xd4200020};
    put(at, kStub, sizeof kStub);
    return apply({0, Value::Pages, Field::Address}, at, stub, table_entry) &&
           apply({0, Value::InPage, Field::Offset12, false, false, 3}, at + 4, stub + 4,
                 table_entry);
}

constexpr ObjectMachine kMachines[] = {
    {EM_X86_64, "x86-64", kX86, 8, write_stub_of_x86},
    {EM_AARCH64, "aarch64", kAarch64, 16, write_stub_of_aarch64},
};

int64_t number_of(RelocationValue value, uint64_t place, uint64_t target) {
    switch (value) {
        case Value::None: break;
        case Value::Absolute: return static_cast<int64_t>(target);
        case Value::Relative: return static_cast<int64_t>(target - place);
        case Value::Pages:
            return static_cast<int64_t>(target / kPage) - static_cast<int64_t>(place / kPage);
        case Value::InPage: return static_cast<int64_t>(target % kPage);
    }
    return 0;
}

}  // namespace

const Relocation* ObjectMachine::find(uint32_t type) const {
    const auto found = std::find_if(relocations.begin(), relocations.end(),
                                    [&](const Relocation& each) { return each.type == type; });
    return found == relocations.end() ? nullptr : &*found;
}

const ObjectMachine* object_machine(uint16_t machine) {
    const auto found =
        std::find_if(std::begin(kMachines), std::end(kMachines),
                     [&](const ObjectMachine& each) { return each.machine == machine; });
    return found == std::end(kMachines) ? nullptr : found;
}

bool apply(const Relocation& relocation, std::byte* at, uint64_t place, uint64_t target) {
    const int64_t number = number_of(relocation.value, place, target);
    const auto bits = static_cast<uint32_t>(number);
    switch (relocation.field) {
        case Field::None: return true;
        case Field::Word32: put(at, &bits, sizeof bits); return fits(number, 32);
        case Field::Word64: put(at, &number, sizeof number); return true;
        case Field::Address:  // the last two bits lie above the others
            put_bits(at, 0x60ffffe0, (bits & 3) << 29 | (bits >> 2 & 0x7ffff) << 5);
            return fits(number, 21);
        case Field::Offset12:
            put_bits(at, 0x003ffc00, (bits >> relocation.unit) << 10);
            return number % (int64_t{1} << relocation.unit) == 0;
        case Field::Jump26:
            put_bits(at, 0x03ffffff, bits >> 2);
            return fits(number, 28) && number % 4 == 0;
    }
    return false;
}

}  // namespace firn
