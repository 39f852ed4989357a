// The forms in which shaders bind buffers: texel views, storage buffers and addresses.
#include "compiler/target/glsl/binding_forms.h"

#include <cstdint>
#include <limits>

#include "compiler/kernel/bindings.h"

namespace firn {
namespace {

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

}  // namespace

AssumedSize glsl_limited_size(const KernelBuffer& buffer, BindingForm form,
                              const DeviceProfile& profile) {
    if (form == BindingForm::Address) return {Size(0), 0};
    const Size bytes =
        ceil_div(largest(buffer.elements) * Size(buffer.dtype.bytes()), 16) * Size(16);
    if (form == BindingForm::Storage)
        return {bytes, static_cast<int64_t>(profile.max_storage_range)};
    return {floor_div(bytes, Size(buffer.dtype.bytes() * buffer.width)),
            static_cast<int64_t>(profile.max_view_elements)};
}

BindingForm glsl_binding_form(const KernelBuffer& buffer, const DeviceProfile& profile,
                              const SymbolFacts& facts) {
    const auto takes = [&](BindingForm form) {
        return is_within(glsl_limited_size(buffer, form, profile), facts);
    };
    const bool views = !buffer.written && buffer.dtype.bytes() == 4 && profile.view_loads;
    if (views && takes(BindingForm::View)) return BindingForm::View;
    const bool by_address = profile.buffer_addresses && !takes(BindingForm::Storage);
    return by_address ? BindingForm::Address : BindingForm::Storage;
}

int64_t glsl_most_bindings(BindingForm form, const DeviceProfile& profile) {
    switch (form) {
        case BindingForm::Storage: return profile.max_storage_buffers;
        case BindingForm::View: return profile.view_loads ? profile.max_views : 0;
        case BindingForm::Address: break;
    }
    return kAny;
}

BindingForm glsl_instead_of(BindingForm form, const DeviceProfile& profile) {
    if (form == BindingForm::View) return BindingForm::Storage;
    return profile.buffer_addresses ? BindingForm::Address : form;
}

}  // namespace firn
