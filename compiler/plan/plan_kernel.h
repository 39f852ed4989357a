// A mapped kernel as part of a Program.
#pragma once
#include <optional>
#include <string>

#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/kernel_passes.h"
#include "compiler/plan/compile_options.h"
#include "compiler/program/program.h"

namespace firn {

struct Target;  // compiler/target/target.h

/// Returns all data that a launch needs, and the kernel's text unless `emission` is Nothing. The
/// kernel has no name and no lines, and is not yet built.
KernelInfo kernel_info(const KernelCode& code, const DeviceProfile& profile,
                       Emission emission = Emission::Text, const EmitOptions& options = {});
/// Writes its launch to the step: groups, parameters and buffers.
void launch_as(DispatchStep& step, const KernelCode& code);
/// Throws UserError if the device lacks a type of the kernel, or the target cannot express it on
/// this device: why, and the user's line of the node, else `at`. A kernel in another mapping has
/// nodes of the same types.
void check_expressible(const KernelCode& code, const Target& target, const DeviceProfile& profile,
                       const std::string& at);
/// No invocation takes more iterations than the driver lets it take.
bool is_within_back_edges(const KernelCode& code, const DeviceProfile& profile);
/// Throws UserError if the kernel exceeds a limit of the device: which, by how much, and what to
/// change. `at`: the user's line.
void check_limits(const KernelCode& code, const DeviceProfile& profile, const std::string& at);

/// A lowered kernel in another mapping; nothing where that is not possible.
std::optional<KernelCode> remap(const KernelCode& lowered, const Mapping& mapping,
                                const DeviceProfile& profile, const SymbolFacts& facts,
                                const KernelPassOptions& passes);

}  // namespace firn
