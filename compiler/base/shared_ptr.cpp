// The owner inside of a SharedPtr.
#include "compiler/base/shared_ptr.h"

#include <memory>

namespace firn {

using Owner = std::shared_ptr<const void>;
static_assert(sizeof(Owner) <= sizeof(SharedOwner) && alignof(Owner) <= alignof(SharedOwner));

namespace {

Owner& owner(SharedOwner& in) { return *std::launder(reinterpret_cast<Owner*>(in.place)); }

}  // namespace

void SharedOwner::adopt(void* object, void (*end)(void*)) {
    ::new (static_cast<void*>(place)) Owner(object, end);
}

void SharedOwner::copy(const SharedOwner& from) noexcept {
    ::new (static_cast<void*>(place))
        Owner(*std::launder(reinterpret_cast<const Owner*>(from.place)));
}

void SharedOwner::take(SharedOwner& from) noexcept {
    ::new (static_cast<void*>(place)) Owner(std::move(owner(from)));
    from.end();
}

void SharedOwner::end() noexcept { owner(*this).~Owner(); }

}  // namespace firn
