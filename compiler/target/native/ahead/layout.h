// The places of a call's workspace, as LLVM IR.
#pragma once
#include <string>

#include "compiler/target/native/ahead/interface.h"
#include "compiler/target/native/ahead/ir_text.h"
#include "compiler/target/native/ahead/places.h"

namespace firn::ahead {

/// Bytes: the workspace begins at a multiple of them.
inline constexpr int64_t kWorkspaceAlignment = 64;
/// The middle of the bytes at the beginning of the workspace where arrays without elements lie: a
/// kernel may read an element outside them.
inline constexpr int64_t kSpareMiddle = 64;

/// The function `@firn.layout`, which checks the sizes of a call, gives the offsets of all places
/// and behind them the bytes of all, and returns a code of the interface.
std::string layout_function(const Program& program, const Interface& interface,
                            const Places& places);
/// The type of these offsets.
std::string offsets_type(const Places& places);
/// The address of a place where `%offsets` has them and `%base` begins; of the spare part if it is
/// negative.
std::string place_address(IrText& text, int place);
/// Writes a block that returns a code.
void write_code(IrText& text, const char* block, int code);

}  // namespace firn::ahead
