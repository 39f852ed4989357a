// The bindings of a mapped kernel, once it is known which loads are left.
#pragma once
#include <array>
#include <cstdint>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Blocks of four of which fewer than `least` are used become plain loads again.
void scalarise_underused_vectors(KernelCode& code, size_t least, const DeviceProfile& profile,
                                 const SymbolFacts& facts);
/// Returns whether a size is within its limit: its lower bound where each call ensures that
/// tensors of symbolic sizes are that small (SymbolFacts::bindable), else its upper bound.
bool is_within(const AssumedSize& size, const SymbolFacts& facts);
/// Returns the form in which a kernel binds a buffer of its width. Symbolic sizes are bounded by
/// the facts.
BindingForm binding_form(const KernelBuffer& buffer, const DeviceProfile& profile,
                         const SymbolFacts& facts);
/// Every bound buffer in the form of its width.
void bind(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts);
/// The size that the device limits in the buffer's form of binding, and its limit.
AssumedSize assumed_size(const KernelBuffer& buffer, const DeviceProfile& profile);

/// Bindings by form; a buffer that is reached by its address has none.
struct BindingCount {
    std::array<int64_t, kBindingForms> of{};

    int64_t& operator[](BindingForm form) { return of[static_cast<size_t>(form)]; }
    int64_t operator[](BindingForm form) const { return of[static_cast<size_t>(form)]; }
    /// Counts a buffer of a kernel that is not yet mapped, and no longer.
    void add(const KernelBuffer& buffer, const DeviceProfile& profile, const SymbolFacts& facts);
    void remove(const KernelBuffer& buffer, const DeviceProfile& profile, const SymbolFacts& facts);
    bool fits(const DeviceProfile& profile) const;
};
/// Returns whether a device binds a buffer of so many elements in each form.
bool takes_any_form(const KernelBuffer& buffer, const DeviceProfile& profile,
                    const SymbolFacts& facts);
/// Reads a buffer's elements from its blocks of four, so that both are one binding, if the kernel
/// binds more than the device allows. Placed code stays placed. The sizes that the device computes
/// count as one more binding.
void join_widths(KernelCode& code, const DeviceProfile& profile);
/// Changes the form of the smallest buffers if the kernel binds more in one form than the device
/// allows (Target::instead_of).
void use_other_forms(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts);
/// Returns how many of the buffers are bound; these stand first.
size_t bound_buffers(const KernelCode& code);
/// Binds one more buffer, after the others that are bound; nodes that name the kernel's own memory
/// are renamed. Returns its place.
int add_bound_buffer(KernelCode& code, const KernelBuffer& buffer);
/// Drops buffers that no live node of placed code uses, and puts the bound ones first.
void drop_unused_buffers(KernelCode& code);

}  // namespace firn
