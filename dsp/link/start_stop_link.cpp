// SPDX-License-Identifier: MIT
#include "dsp/link/start_stop_link.h"

#include <new>

#include "dsp/link/start_stop.h"

struct oh_v14 : offhook::v14::Link {};

namespace {

uint32_t at_once(size_t n) {
  return n < UINT32_MAX ? static_cast<uint32_t>(n) : UINT32_MAX;
}

}  // namespace

size_t oh_v14_size() {
  return sizeof(oh_v14);
}

oh_v14* oh_v14_init(void* memory) {
  return new (memory) oh_v14;
}

void oh_v14_port(oh_v14* link, oh_bit_port* port) {
  *port = link->port();
}

size_t oh_v14_writable(const oh_v14* link) {
  return link->writable();
}

size_t oh_v14_unsent(const oh_v14* link) {
  return link->unsent();
}

size_t oh_v14_write(oh_v14* link, const uint8_t* octets, size_t n) {
  return link->write(octets, at_once(n));
}

size_t oh_v14_read(oh_v14* link, uint8_t* octets, size_t n) {
  return link->read(octets, at_once(n));
}
