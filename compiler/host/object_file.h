// Machine code of an object file, loaded into this process.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace firn {

/// A relocatable object file in memory. Its code is never writable and executable at once.
class ObjectFile {
  public:
    /// Loads an ELF64 file for this processor. UserError, which begins with `name`, where the bytes
    /// are none, are damaged, or need what is not there: other functions than memcpy, memmove,
    /// memset, fmod and fmodf.
    ObjectFile(std::span<const std::byte> file, const std::string& name);
    ~ObjectFile();
    ObjectFile(const ObjectFile&) = delete;
    ObjectFile& operator=(const ObjectFile&) = delete;

    /// Returns the address of a function or a variable that other files see; null: there is none.
    void* symbol(const std::string& name) const;

  private:
    struct Mapping;
    std::unique_ptr<Mapping> mapping_;
    std::map<std::string, void*> symbols_;
};

}  // namespace firn
