// Returns the size of the machine's memory.
#include "compiler/base/physical_memory.h"

#include <unistd.h>

namespace firn {

uint64_t physical_memory() {
    static const uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                                  static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
    return bytes;
}

}  // namespace firn
