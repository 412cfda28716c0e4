// SPDX-License-Identifier: MIT
//
// The messages of the DMT start-up out of arbitrary octet symbols, and both pumps on arbitrary samples: what is read
// can be sent, and no pump is in data without a far end.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "dsp/dmt/bit_swap.h"
#include "dsp/dmt/message.h"
#include "dsp/dmt/pump.h"
#include "dsp/dmt/showtime.h"

namespace {

void read_messages(const std::uint8_t* data, std::size_t size) {
  using namespace offhook::dmt;
  for (const Band& band : {kLiteDown, kFullUp, kFullDown}) {
    MessageReader reader(band);
    Message message;
    for (std::size_t k = 0; k < size; ++k) {
      if (!reader.put(data[k], &message)) continue;
      if (!message.loading.path.possible() || !message.loading.fits(band)) std::abort();
      auto tx = std::make_unique<DataTransmitter>(band);
      tx->begin(message.loading);
      oh_bit_port port{};
      port.get_bit = [](void*) { return 1; };
      port.put_bit = [](void*, int) {};
      offhook::Complex points[kMostTones];
      for (int n = 0; n < 140; ++n) tx->symbol(port, true, false, nullptr, points);
    }
  }
}

/// Operations from arbitrary octets are applied to a loading. It can still be sent, and what was read can be written.
void swap_bits_about(const std::uint8_t* data, std::size_t size) {
  using namespace offhook::dmt;
  float error[kMostTones];
  for (float& e : error) e = 1e-3f;
  const Band& band = size % 2 == 0 ? kLiteDown : kFullUp;
  Loading loading;
  if (!load(band, error, 0, &loading)) std::abort();
  const int total = loading.total();
  std::uint8_t octets[kOperationOctets], again[kOperationOctets];
  for (std::size_t at = 0; at < size; at += kOperationOctets) {
    for (std::size_t k = 0; k < kOperationOctets; ++k) octets[k] = at + k < size ? data[at + k] : std::uint8_t{0};
    const Operation o = read_operation(octets);
    if (o.kind == Operation::Kind::kNone) continue;
    write_operation(o, again);
    const Operation twice = read_operation(again);
    if (twice.kind != o.kind || twice.request.count != o.request.count) std::abort();
    swap_bits(band, o.request, &loading);
    if (loading.total() != total || !loading.fits(band)) std::abort();
  }
}

void hear_samples(const oh_pump_type* type, oh_pump_role role, const std::uint8_t* data, std::size_t size) {
  oh_pump_config c{};
  c.struct_size = sizeof c;
  c.format = type->formats[0];
  c.role = role;
  c.port.get_bit = [](void*) { return 1; };
  c.port.put_bit = [](void*, int) {};
  void* self = ::operator new (type->size(&c), std::align_val_t{64});
  if (type->init(self, &c) != 0) std::abort();
  std::int16_t rx[4 * 64], tx[4 * 64];
  for (std::size_t at = 0; at < size; ++at) {
    for (std::size_t k = 0; k < 4 * 64; ++k) {
      std::int16_t s = 0;
      std::memcpy(&s, data + (at + k) % (size > 1 ? size - 1 : 1), size > 1 ? 2 : 1);
      rx[k] = s;
    }
    if (data[at] == 0xfe) type->report_gap(self, 64);
    type->process(self, rx, tx, 64);
  }
  oh_pump_status status{};
  status.struct_size = sizeof status;
  type->status(self, &status);
  if (status.state == OH_PUMP_DATA) std::abort();
  ::operator delete (self, std::align_val_t{64});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  read_messages(data, size);
  swap_bits_about(data, size);
  hear_samples(oh_dmt_remote_type(), OH_PUMP_CALL, data, size < 300 ? size : 300);
  hear_samples(oh_dmt_central_type(), OH_PUMP_ANSWER, data, size < 300 ? size : 300);
  return 0;
}
