// SPDX-License-Identifier: MIT
//
// liquid-dsp's objects, released at the end of their scope.
#pragma once

#include <complex>
#include <memory>
#include <numbers>
#include <type_traits>

// After <complex>, so that liquid uses the complex numbers of C++.
#include <liquid/liquid.h>

// liquid 1.5 marks the function after a deprecated one as deprecated, too: eqlms_cccf_push.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace offhook::radio {

using Complex = std::complex<float>;

/// Either part of a QPSK symbol of unit power.
inline constexpr float kRootHalf = std::numbers::sqrt2_v<float> / 2;

template <auto Destroy>
struct Destroyer {
  template <class T>
  void operator()(T* object) const {
    Destroy(object);
  }
};
/// An object of liquid's type Handle (a pointer).
template <class Handle, auto Destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<Destroy>>;

}  // namespace offhook::radio
