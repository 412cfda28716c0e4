// SPDX-License-Identifier: MIT
//
// The connection between the near end's card and the modem at the other end, by a scenario's line.kind. It is a
// telephone line, a digital trunk with either end at the card, or a subscriber loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "hostsim/call/scenario.h"

namespace offhook::hostsim {

class LineBetween {
 public:
  virtual ~LineBetween() = default;
  /// @param[in] played  @param[out] captured  n periods in the format of the near end's card; in different memory
  virtual void exchange(const void* played, void* captured, std::size_t n) = 0;
};

/// The far modem's work for n of its periods, in its own format.
using FarWork = std::function<void(const void* rx, void* tx, std::size_t n)>;

/// The near end has the scenario's role and near_format(); the far end has far_format() (modem_config.h). On a loop,
/// both formats have its rates.
/// @throws std::invalid_argument naming the field and the expected value
std::unique_ptr<LineBetween> make_line_between(const Scenario& scenario, FarWork far);

}  // namespace offhook::hostsim
