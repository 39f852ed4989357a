// Shared ownership for public headers: <memory> would be a third of the code that they include.
#pragma once
#include <concepts>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace firn {

/// A shared pointer of <memory>, by the members that other pointers lack.
template <class Pointer, class T>
concept StandardPointer = requires(const Pointer& pointer) {
    { pointer.get() } -> std::convertible_to<T*>;
    pointer.use_count();
};

/// The storage of a SharedPtr: a shared pointer of <memory> to const void.
struct SharedOwner {
    alignas(void*) std::byte place[2 * sizeof(void*)];

    void adopt(void* object, void (*end)(void*));
    void copy(const SharedOwner& from) noexcept;
    /// `from` holds none after it.
    void take(SharedOwner& from) noexcept;
    void end() noexcept;
};

/// Is made of the shared pointer of <memory>, converts to it, and shares with it; T may be
/// incomplete.
template <class T>
class SharedPtr {
  public:
    SharedPtr() = default;
    SharedPtr(std::nullptr_t) {}
    template <template <class> class Pointer, class U>
    requires StandardPointer<Pointer<U>, T> SharedPtr(Pointer<U> from) : pointer_(from.get()) {
        if (pointer_) ::new (static_cast<void*>(owner_.place)) Pointer<const void>(std::move(from));
    }
    /// Owns `object`, which `end` is to delete.
    SharedPtr(T* object, void (*end)(void*)) : pointer_(object) { owner_.adopt(object, end); }
    SharedPtr(const SharedPtr& from) noexcept : pointer_(from.pointer_) {
        if (pointer_) owner_.copy(from.owner_);
    }
    SharedPtr(SharedPtr&& from) noexcept : pointer_(std::exchange(from.pointer_, nullptr)) {
        if (pointer_) owner_.take(from.owner_);
    }
    SharedPtr& operator=(const SharedPtr& from) noexcept { return *this = SharedPtr(from); }
    SharedPtr& operator=(SharedPtr&& from) noexcept {
        if (this == &from) return *this;
        if (pointer_) owner_.end();
        pointer_ = std::exchange(from.pointer_, nullptr);
        if (pointer_) owner_.take(from.owner_);
        return *this;
    }
    ~SharedPtr() {
        if (pointer_) owner_.end();
    }

    template <template <class> class Pointer, class U>
    requires StandardPointer<Pointer<U>, U> && std::convertible_to<T*, U*>
    operator Pointer<U>() const {
        if (!pointer_) return {};
        using Owner = Pointer<const void>;
        return {*std::launder(reinterpret_cast<const Owner*>(owner_.place)), pointer_};
    }

    T* get() const { return pointer_; }
    T* operator->() const { return pointer_; }
    std::add_lvalue_reference_t<T> operator*() const requires(!std::is_void_v<T>) {
        return *pointer_;
    }
    explicit operator bool() const { return pointer_ != nullptr; }
    friend bool operator==(const SharedPtr& a, const SharedPtr& b) {
        return a.pointer_ == b.pointer_;
    }

  private:
    T* pointer_ = nullptr;
    SharedOwner owner_;  // holds one where there is a pointer
};

}  // namespace firn
