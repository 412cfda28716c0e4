// SPDX-License-Identifier: MIT
#pragma once

#include <new>

namespace offhook {

/// Makes an object anew where it stands. `object = T(...)` would build it on the stack first, and a receiver has 50 KB
/// where a kernel thread has 16 in all. @pre no argument lies within the object.  Real-time: as T's constructor.
template <class T, class... Arguments>
void renew(T& object, const Arguments&... arguments) {
  object.~T();
  new (&object) T{arguments...};
}

}  // namespace offhook
