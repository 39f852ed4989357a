// Declares and names the memory that a kernel loads from and stores to.
#pragma once
#include <iosfwd>
#include <string>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The type in memory of an element that the device can store directly.
std::string element_type(DType dtype);
/// Converts such an element to a value of glsl_type(dtype), and back.
std::string from_element(DType dtype, const std::string& element);
std::string to_element(DType dtype, const std::string& value);
/// Elements narrower than a word that the device cannot store as such: buffers hold them in words,
/// side by side.
bool is_packed(DType dtype, const DeviceProfile& profile);
/// The type of an element, or of a block of four, in memory.
std::string stored_type(const KernelBuffer& buffer, int width, const DeviceProfile& profile);
/// The array that buffer `k` is.
std::string memory_name(const KernelCode& code, size_t k);
/// Buffer `k` outside of main.
void declare_memory(std::ostream& out, const KernelCode& code, size_t k,
                    const DeviceProfile& profile);
/// Declares, in main, the buffers that are reached by their address: parameter `a<k>`, two words.
void declare_addressed(std::ostream& out, const KernelCode& code);

/// An element of words in which elements lie side by side.
std::string packed_load(DType dtype, const std::string& memory, const std::string& index);
/// Stores one; others may store the elements beside it at the same time.
std::string packed_store(DType dtype, const std::string& memory, const std::string& index,
                         const std::string& value);

}  // namespace firn
