// SPDX-License-Identifier: MIT
#include "driver/fax/t38_terminal.h"

#include <spandsp.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "driver/base/ifp.h"

namespace offhook::fax {

void T38Terminal::Free::operator()(t38_terminal_state_s* t38) const {
  t38_terminal_free(t38);
}

T38Terminal::T38Terminal(const TerminalConfig& config, Send send) : send_(std::move(send)), watch_(config) {
  const auto transmit = [](t38_core_state_t*, void* self, const std::uint8_t* octets, int length, int times) {
    static_cast<T38Terminal*>(self)->send_({octets, static_cast<std::size_t>(length)}, times);
    return 0;
  };
  t38_.reset(t38_terminal_init(nullptr, config.calls, transmit, this));
  if (!t38_) throw std::runtime_error("T.38 could not be started: no memory");
  t38_core_state_t* const core = t38_terminal_get_t38_core_state(t38_.get());
  t38_set_t38_version(core, kVersion);
  t38_set_data_rate_management_method(core, kTransferredTest);
  watch_.begin(t38_terminal_get_t30_state(t38_.get()));
}

T38Terminal::~T38Terminal() = default;

bool T38Terminal::receive(std::uint16_t number, std::span<const std::uint8_t> packet) {
  if (!is_ifp(packet, kVersion)) return false;
  return t38_core_rx_ifp_packet(t38_terminal_get_t38_core_state(t38_.get()), packet.data(),
                                static_cast<int>(packet.size()), number) == 0;
}

void T38Terminal::advance(std::uint32_t ticks) {
  constexpr std::uint32_t kAtOnce = kClockHz / 50;
  while (ticks > 0) {
    const std::uint32_t n = std::min(ticks, kAtOnce);
    t38_terminal_send_timeout(t38_.get(), static_cast<int>(n));
    ticks -= n;
  }
}

}  // namespace offhook::fax
