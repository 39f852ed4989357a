// A function of the caller that is kept or passed on, by a header that costs little.
#pragma once
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "compiler/base/shared_ptr.h"

namespace firn {

template <class Signature>
class Callback;

/// Anything that can be called with A; copies call the same object. Empty where it is made of
/// nullptr or of nothing.
template <class R, class... A>
class Callback<R(A...)> {
  public:
    Callback() = default;
    Callback(std::nullptr_t) {}
    template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, Callback> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, A...>) Callback(F&& function)
        : function_(static_cast<void*>(new std::decay_t<F>(std::forward<F>(function))),
                    static_cast<void (*)(void*)>(
                        [](void* kept) { delete static_cast<std::decay_t<F>*>(kept); })),
          call_([](void* kept, A... arguments) -> R {
              auto& callable = *static_cast<std::decay_t<F>*>(kept);
              if constexpr (std::is_void_v<R>)
                  callable(std::forward<A>(arguments)...);
              else
                  return callable(std::forward<A>(arguments)...);
          }) {}

    explicit operator bool() const { return call_ != nullptr; }
    R operator()(A... arguments) const {
        return call_(function_.get(), std::forward<A>(arguments)...);
    }

  private:
    SharedPtr<void> function_;
    R (*call_)(void*, A...) = nullptr;
};

}  // namespace firn
