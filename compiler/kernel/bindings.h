// What a mapped kernel binds, once it is known which loads are left.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Blocks of four of which fewer than `least` are used become plain loads again.
void split_lonely_blocks(KernelCode& code, size_t least, const DeviceProfile& profile,
                         const SymbolFacts& facts);
/// How a kernel reaches a buffer of its width. Of symbolic sizes, what the facts say.
BindingForm binding_form(const KernelBuffer& buffer, const DeviceProfile& profile,
                         const SymbolFacts& facts);
/// Every bound buffer in the form of its width.
void bind(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts);
/// The most elements (texels, or bytes) that its form takes, and how many there are.
AssumedSize assumed_size(const KernelBuffer& buffer, const DeviceProfile& profile);

/// Bindings by form, before a kernel is mapped: one for each tensor.
struct BindingCount {
    int64_t texels = 0, storage = 0;

    void add(const KernelBuffer& buffer, const DeviceProfile& profile, const SymbolFacts& facts);
    void remove(const KernelBuffer& buffer, const DeviceProfile& profile, const SymbolFacts& facts);
    bool fits(const DeviceProfile& profile) const;
};
/// Where more is bound than the device binds, a buffer's elements are found in its blocks of four,
/// so that both are one binding. Placed code stays placed. Sizes that the device computes will be
/// one more.
void join_widths(KernelCode& code, const DeviceProfile& profile);
/// Where more is bound in one form than the device binds, the smallest go by another: texels as
/// storage buffers, and those by their addresses.
void use_other_forms(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts);
/// How many of the buffers are bound: those that stand first.
size_t bound_buffers(const KernelCode& code);
/// Binds one more, after the others that are bound: what names the kernel's own memory is renamed.
/// Gives its place.
int add_bound_buffer(KernelCode& code, const KernelBuffer& buffer);
/// Drops buffers that no live node of placed code uses, and puts the bound ones first.
void drop_unused_buffers(KernelCode& code);

}  // namespace firn
