// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "src/decode/line/samples.h"

namespace offhook::decode {

/// Solves A x = b by Cholesky, A symmetric or Hermitian and positive definite [n*n], its lower half given; b becomes x.
template <class T>
void solve_positive_definite(std::vector<T>& a, std::vector<T>& b) {
  const std::size_t n = b.size();
  // a minus x times y, or y's conjugate
  const auto less = [](T v, T x, T y, bool conjugate) -> T {
    if constexpr (std::is_same_v<T, double>) {
      return v - x * y;
    } else {
      return v - (conjugate ? times_conj(x, y) : times(x, y));
    }
  };
  for (std::size_t j = 0; j < n; ++j) {
    double d = std::real(a[j * n + j]);
    for (std::size_t k = 0; k < j; ++k) d -= std::norm(a[j * n + k]);
    d = std::sqrt(std::max(d, 1e-30));
    a[j * n + j] = d;
    const auto rows = [&](std::size_t i, auto count) {
      T s[count];
      for (std::size_t r = 0; r < count; ++r) s[r] = a[(i + r) * n + j];
      for (std::size_t k = 0; k < j; ++k) {
        for (std::size_t r = 0; r < count; ++r) s[r] = less(s[r], a[(i + r) * n + k], a[j * n + k], true);
      }
      for (std::size_t r = 0; r < count; ++r) a[(i + r) * n + j] = s[r] / d;
    };
    // Several rows side by side: each difference of one waits for the one before.
    constexpr std::integral_constant<std::size_t, 8> kAtOnce;
    std::size_t i = j + 1;
    for (; i + kAtOnce <= n; i += kAtOnce) rows(i, kAtOnce);
    for (; i < n; ++i) rows(i, std::integral_constant<std::size_t, 1>{});
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] = less(b[i], a[i * n + k], b[k], false);
    b[i] /= std::real(a[i * n + i]);
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] = less(b[i], b[k], a[k * n + i], true);
    b[i] /= std::real(a[i * n + i]);
  }
}

}  // namespace offhook::decode
