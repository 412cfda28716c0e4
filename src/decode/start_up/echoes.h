// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

namespace offhook::decode {

/// Keeps all but echoes. @param is_echo  whether the first is the echo of the second, which was heard in the other
/// channel
template <class T, class IsEcho>
void drop_echoes(std::vector<T>& all, IsEcho&& is_echo) {
  const std::vector<T> heard = all;
  std::erase_if(all, [&](const T& x) {
    return std::any_of(heard.begin(), heard.end(), [&](const T& y) { return y.channel != x.channel && is_echo(x, y); });
  });
}

}  // namespace offhook::decode
