// What is left to do for a kernel whose ranges are mapped as its user, or the matrix unit, asks.
#include "compiler/kernel/bindings.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/map.h"

namespace firn {

void bind_and_place(KernelCode& code, const DeviceProfile& profile, const SymbolFacts& facts) {
    for (KernelBuffer& b : code.buffers)
        if (b.space == MemorySpace::Bound) b.form = binding_form(b, profile, facts);
    place(code);
    drop_unused_buffers(code);
    use_other_forms(code, profile, facts);
    code.back_edges = count_back_edges(code);
}

}  // namespace firn
