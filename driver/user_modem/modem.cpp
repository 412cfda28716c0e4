// SPDX-License-Identifier: MIT
#include "driver/user_modem/modem.h"

#include <cstdlib>
#include <new>
#include <stdexcept>

#include "driver/user_modem/modulations.h"

namespace offhook::modem {

void Modem::Free::operator()(oh_modem_end* end) const {
  oh_modem_end_release(end);
  std::free(end);
}

Modem::Modem(const Config& config) {
  Config c = config;
  c.without_v42 = kAllModulations & ~kModulationsWithV42;
  const char* reason = nullptr;
  const std::size_t bytes = oh_modem_end_size(&c, &reason);
  if (bytes == 0) throw std::invalid_argument(reason);
  void* memory = std::aligned_alloc(64, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  end_.reset(oh_modem_end_init(memory, &c));
  if (end_ != nullptr) return;
  std::free(memory);
  throw std::invalid_argument("the pump refused its configuration");
}

oh_pump Modem::pump() {
  return {[](void* self, const void* rx, void* tx, std::size_t n) { static_cast<Modem*>(self)->process(rx, tx, n); },
          [](void* self, std::size_t n) { static_cast<Modem*>(self)->report_gap(n); }, this};
}

oh_modem_end_status Modem::status() const {
  oh_modem_end_status s;
  oh_modem_end_get_status(end(), &s);
  return s;
}

oh_pump_status Modem::pump_status() const {
  oh_pump_status s;
  oh_modem_end_pump_status(end(), &s);
  return s;
}

oh_lapm_status Modem::lapm_status() const {
  oh_lapm_status s;
  oh_modem_end_link_status(end(), &s);
  return s;
}

std::string_view Modem::failure() const {
  const oh_modem_end_status s = status();
  return oh_modem_end_failure(&s);
}

}  // namespace offhook::modem
