// SPDX-License-Identifier: MIT
//
// The C ABI of offhook/modem.h on modem.h.
#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>

#include "driver/user_modem/modem.h"
#include "offhook/modem.h"

struct oh_modem {
  explicit oh_modem(const offhook::modem::Modem::Config& config) : end(config) { end.start(); }
  offhook::modem::Modem end;
};

namespace {

thread_local std::string refusal;

}  // namespace

void oh_modem_default_config(oh_modem_config* config, oh_pump_role role) {
  *config = {};
  config->struct_size = sizeof *config;
  config->role = role;
  config->pump = oh_automode_v22bis_type();
  config->error_control = OH_ERROR_CONTROL_REQUIRED;
  config->compression = 1;
  config->window = 64;
}

oh_modem* oh_modem_create(const oh_modem_config* config, const char** reason) {
  const auto refuse = [reason](const std::string& why) -> oh_modem* {
    refusal = why;
    if (reason != nullptr) *reason = refusal.c_str();
    return nullptr;
  };
  if (config == nullptr || config->struct_size != sizeof *config) return refuse("a configuration of unknown size");
  if (config->pump == nullptr) return refuse("no pump");
  if (config->window < 1 || config->window > 64) return refuse("invalid window; expected 1 to 64 frames");
  try {
    offhook::modem::Modem::Config c{};
    c.pump = config->pump;
    c.role = config->role;
    c.io_delay_samples = config->io_delay_samples;
    c.max_bit_rate = config->max_bit_rate;
    c.min_bit_rate = config->min_bit_rate;
    c.link.error_control = config->error_control;
    c.link.window = std::max<std::uint32_t>(config->window, 15);  // neither end may have less (V.42 9.2.4)
    c.link.compression = config->compression != 0 ? OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED : 0;
    return new oh_modem(c);
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
}

void oh_modem_destroy(oh_modem* modem) {
  delete modem;
}
void oh_modem_process(oh_modem* modem, const int16_t* rx, int16_t* tx, size_t n) {
  modem->end.process(rx, tx, n);
}
void oh_modem_report_gap(oh_modem* modem, size_t n) {
  modem->end.report_gap(n);
}
oh_pump oh_modem_pump(oh_modem* modem) {
  return modem->end.pump();
}
size_t oh_modem_write(oh_modem* modem, const uint8_t* octets, size_t n) {
  return modem->end.write(octets, n);
}
size_t oh_modem_read(oh_modem* modem, uint8_t* octets, size_t n) {
  return modem->end.read(octets, n);
}
void oh_modem_hang_up(oh_modem* modem) {
  modem->end.hang_up();
}

int oh_modem_get_status(const oh_modem* modem, struct oh_modem_status* status) {
  if (status->struct_size != sizeof *status) return -EINVAL;
  const oh_modem_end_status now = modem->end.status();
  status->state = now.pump.state;
  status->connected = static_cast<uint32_t>(oh_modem_end_is_connected(&now));
  status->ended = modem->end.ended();
  status->tx_bit_rate = now.pump.tx_bit_rate;
  status->rx_bit_rate = now.pump.rx_bit_rate;
  status->retrains = now.pump.retrains;
  status->unacknowledged = now.direct != 0 ? 0 : now.link.unacknowledged;
  return 0;
}

const char* oh_modem_failure(oh_modem* modem) {
  return modem->end.hung_up() ? "hung up" : modem->end.failure().data();
}
