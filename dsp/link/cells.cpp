// SPDX-License-Identifier: MIT
#include "dsp/link/cells.h"

#include <new>

#include "dsp/link/cell_stream.h"

struct oh_cells {
  // More than a pump takes at once: 4 symbols of full rate, 19 cells.
  static constexpr uint32_t kOctets = 4096;
  uint8_t out_octets[kOctets], in_octets[kOctets];
  offhook::ByteRing out{out_octets, kOctets}, in{in_octets, kOctets};
  offhook::atm::CellSender sender;
  offhook::atm::CellReceiver receiver;
  uint64_t overflows = 0;
};

namespace {

/// The port has the first bit in the lowest place, the line has an octet's highest bit first.
uint8_t turned(uint8_t octet) {
  unsigned o = octet;
  o = (o & 0xf0) >> 4 | (o & 0x0f) << 4;
  o = (o & 0xcc) >> 2 | (o & 0x33) << 2;
  return static_cast<uint8_t>((o & 0xaa) >> 1 | (o & 0x55) << 1);
}

void get_bits(void* user, uint8_t* octets, size_t n) {
  auto* cells = static_cast<oh_cells*>(user);
  for (size_t k = 0; k < n / 8; ++k) octets[k] = turned(cells->sender.next(&cells->out));
}

void put_bits(void* user, const uint8_t* octets, size_t n) {
  auto* cells = static_cast<oh_cells*>(user);
  for (size_t k = 0; k < n / 8; ++k) {
    if (!cells->receiver.put(turned(octets[k]))) continue;
    if (cells->in.free() >= OH_CELL_OCTETS) {
      cells->in.put(cells->receiver.cell(), OH_CELL_OCTETS);
    } else {
      ++cells->overflows;
    }
  }
}

uint32_t whole_cells(size_t most, size_t n) {
  const size_t least = n < most ? n : most;
  return static_cast<uint32_t>(least - least % OH_CELL_OCTETS);
}

}  // namespace

size_t oh_cells_size() {
  return sizeof(oh_cells);
}

oh_cells* oh_cells_init(void* memory) {
  return new (memory) oh_cells;
}

void oh_cells_port(oh_cells* cells, oh_bit_port* port) {
  *port = {};
  port->user = cells;
  port->get_bits = get_bits;
  port->put_bits = put_bits;
}

size_t oh_cells_writable(const oh_cells* cells) {
  return whole_cells(cells->out.free(), oh_cells::kOctets);
}

size_t oh_cells_unsent(const oh_cells* cells) {
  return cells->out.used();
}

size_t oh_cells_write(oh_cells* cells, const uint8_t* octets, size_t n) {
  const uint32_t taken = whole_cells(cells->out.free(), n);
  cells->out.put(octets, taken);
  return taken;
}

size_t oh_cells_read(oh_cells* cells, uint8_t* octets, size_t n) {
  const uint32_t given = whole_cells(cells->in.used(), n);
  cells->in.copy(cells->in.tail, octets, given);
  cells->in.tail += given;
  return given;
}

void oh_cells_get_status(const oh_cells* cells, oh_cells_status* s) {
  *s = {};
  cells->receiver.status(s);
  s->sent = cells->sender.sent();
  s->idle_sent = cells->sender.idle();
  s->overflows = cells->overflows;
}
