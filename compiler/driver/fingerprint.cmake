# Writes OUTPUT: compiler_fingerprint(), a hash over the contents of the files that LIST names.
file(STRINGS ${LIST} files)
set(hashes)
foreach(file IN LISTS files)
    file(SHA256 ${file} hash)
    get_filename_component(name ${file} NAME)
    string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 all "${hashes}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// Written by compiler/driver/fingerprint.cmake.
#include "compiler/driver/program_cache.h"

namespace firn {

const char* compiler_fingerprint() { return "@all@"; }

}  // namespace firn
]] @ONLY)
