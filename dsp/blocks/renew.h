// SPDX-License-Identifier: MIT
#pragma once

#include <new>

namespace offhook {

/// Constructs an object again in its place. `object = T(...)` would build it on the stack first; a receiver has 50 KB,
/// and a kernel thread's whole stack 16 KB. @pre no argument is part of the object.  Real-time: as T's constructor.
template <class T, class... Arguments>
void renew(T& object, const Arguments&... arguments) {
  object.~T();
  new (&object) T{arguments...};
}

}  // namespace offhook
