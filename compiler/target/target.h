// A target turns placed kernel code into code that a device runs. This is its interface to the
// stages before it. Each target has a folder here, and a row in targets.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/emission.h"

namespace firn {

struct KernelBuffer;  // these two: compiler/kernel/kernel_code.h
struct KernelNode;

/// The options of Target::build.
struct BuildOptions {
    std::string cache_directory;  // where built kernels are kept between runs; empty: nowhere
    bool validate = false;        // check what no cache has
};

struct Target {
    const char* extension;  // of files that hold a kernel's text

    // --- Devices that saved programs are for (SaveOptions::devices).

    const char* devices;  // names its devices where nobody does
    /// The devices of this name, in a session that runs on `own`; none: another target may have it.
    std::optional<DeviceProfile> (*device_named)(const std::string& name, const DeviceProfile& own);
    /// A multiple of the alignments that its devices may ask for in offsets of bindings.
    uint32_t most_alignment;
    /// Code is better for sizes that are known to be multiples of a number.
    bool gains_by_multiples;
    /// Text has a check of each access if it is asked for.
    bool can_check_accesses;

    /// The best form of kernels, by the class of the device.
    const ClassRules& (*rules)(const DeviceProfile& profile);

    // --- Bindings of memory.

    /// The form in which a kernel binds a buffer of its width. Symbolic sizes are bounded by the
    /// facts.
    BindingForm (*binding_form)(const KernelBuffer& buffer, const DeviceProfile& profile,
                                const SymbolFacts& facts);
    /// The size that the device limits in a binding of this form, and its limit. If only the device
    /// knows how much is in a buffer, the size is the room that the call makes for it.
    AssumedSize (*limited_size)(const KernelBuffer& buffer, BindingForm form,
                                const DeviceProfile& profile);
    /// The number of buffers that a kernel may bind in this form.
    int64_t (*most_bindings)(BindingForm form, const DeviceProfile& profile);
    /// The form to which a kernel changes bindings of `form` if it has too many of them; the same
    /// form: there is none.
    BindingForm (*instead_of)(BindingForm form, const DeviceProfile& profile);

    // --- Artefacts from placed code.

    /// The group that is launched: the kernel's group_size, or another of as many invocations.
    std::array<uint32_t, 3> (*launched_group)(const KernelCode& code, const DeviceProfile& profile);
    /// The most loop back edges that one invocation takes, as the device counts them; -1 if it
    /// depends on data or symbols.
    int64_t (*count_back_edges)(const KernelCode& code, const DeviceProfile& profile);
    /// Returns why this target cannot express a node of the kernel on this device, and what to do;
    /// empty: it can. It is asked for every node that is evaluated, and for a load of each buffer;
    /// the device has their types.
    std::string (*cannot)(const KernelCode& code, const KernelNode& node,
                          const DeviceProfile& profile);
    /// Writes the format of the artefact, how the kernel is launched (its group, the way of its
    /// parameters), what it asks of floats, and the features that it needs.
    void (*describe)(const KernelCode& code, const DeviceProfile& profile,
                     const EmitOptions& options, KernelInfo& info);
    /// Returns the kernel as text. Code of equal structure (kernel/structure.h) gives text of equal
    /// meaning: one text serves all.
    std::string (*emit)(const KernelCode& code, const DeviceProfile& profile,
                        const EmitOptions& options);
    /// Completes the artefact of a kernel for this device: its words, from its text. May be called
    /// from any thread.
    void (*build)(KernelInfo& kernel, const DeviceProfile& profile, const BuildOptions& options);
    /// Names the versions of what builds kernels: others may build other words.
    std::string (*version)();
};

/// The target that makes the kernels of a device.
const Target& target_of(const DeviceProfile& profile);

/// Names the devices that files are made for where nobody names one: those of the first
/// target, whose programs hosts run, and those that the session runs on.
std::vector<std::string> default_devices(const DeviceProfile& own);
/// The devices of a name, whatever their target. UserError if there are none.
DeviceProfile device_named(const std::string& name, const DeviceProfile& own);
/// A multiple of the alignments that devices of any target may ask for in offsets of bindings.
uint32_t most_alignment();

}  // namespace firn
