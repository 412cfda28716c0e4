// SPDX-License-Identifier: MIT
// A whole end with MNP under arbitrary input: raw bits, or frames with a right check sequence in both framings, mixed
// with time, reads, writes and the user's requests.
#include <stdlib.h>
#include <string.h>

#include "dsp/link/hdlc.h"
#include "dsp/link/lapm.h"
#include "dsp/link/octet_frames.h"
#include "tests/fuzz/link_input.h"

namespace {

using offhook::fuzz::exchange;
using offhook::fuzz::Input;

oh_lapm_config config_of(Input& in) {
  oh_lapm_config config;
  const uint8_t options = in.next();
  oh_lapm_default_config(&config, options & 1 ? OH_PUMP_ANSWER : OH_PUMP_CALL, 2400);
  config.link.protocols = options & 2 ? OH_PROTOCOL_MNP : OH_PROTOCOL_V42 | OH_PROTOCOL_MNP;
  config.link.mnp_class = 2 + (options >> 2 & 3);
  config.link.window = options & 16 ? 127 : 15;
  config.detections = options & 32 ? 2 : 1;
  config.buffer_bytes = options & 64 ? 8192 : 600;
  config.link.compression = options & 128 ? 3 : 0;
  config.link.codewords = 512;
  config.t400_ms = 100;
  return config;
}

struct Senders {
  uint8_t buffer[512];
  offhook::v42::HdlcSender flags;
  offhook::v42::OctetFrameSender octets;
  Senders() {
    flags.init(buffer);
    octets.init(buffer);
  }
  void send(oh_bit_port& port, size_t n, bool between_flags) {
    if (!between_flags) {
      for (int i = 0; i < 12; ++i) exchange(port, 1);
      octets.load(n);
      while (!octets.ready()) exchange(port, octets.next());
      return;
    }
    while (!flags.ready()) exchange(port, flags.next());
    flags.load(n, false);
    while (!flags.ready()) exchange(port, flags.next());
  }
};

/// A header that is nearly right, and information.
size_t compose(uint8_t* f, uint8_t what, Input& in) {
  constexpr uint8_t kRequest[] = {26, 1, 2, 1, 6, 1, 0, 0, 0, 0, 255, 2, 1, 3, 3, 1, 8, 4, 2, 64, 0, 8, 1, 3, 9, 1, 1};
  if ((what >> 3 & 7) == 0) {
    memcpy(f, kRequest, sizeof kRequest);
    if (what & 64) f[in.next() % sizeof kRequest] = in.next();
    return sizeof kRequest;
  }
  const uint8_t type = uint8_t(what >> 3 & 7), parameters = type == 5 || type == 6 ? 2 : 1;
  const bool fixed = what & 64;
  size_t n = 1;
  f[n++] = type;
  for (uint8_t k = 1; k <= parameters; ++k) {
    if (!fixed) f[n++] = k;
    if (!fixed) f[n++] = 1;
    f[n++] = in.next();
  }
  f[0] = uint8_t(n - 1);
  if (type == 4) {
    for (size_t left = in.next(); left > 0; --left) f[n++] = uint8_t(left);
  }
  return n;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in{data, size};
  const oh_lapm_config config = config_of(in);
  void* memory = aligned_alloc(64, oh_lapm_size(&config));  // exactly this size: the sanitizer detects accesses beyond
  oh_lapm* lapm = oh_lapm_init(memory, &config);
  if (!lapm) abort();
  oh_bit_port port{};
  oh_lapm_port(lapm, &port);
  Senders senders;
  uint64_t delivered = 0;
  while (in.left > 0) {
    const uint8_t what = in.next();
    uint8_t buffer[256];
    switch (what & 7) {
      case 0:
      case 1:
        senders.send(port, compose(senders.buffer, what, in), (what & 7) == 1);
        break;
      case 2:  // raw bits
        for (int i = 0; i < 20; ++i) exchange(port, what & 8 ? in.next() & 1 : 1);
        break;
      case 3:
        oh_lapm_advance(lapm, 1u << (what >> 3 & 15));
        break;
      case 4:
        memset(buffer, what, sizeof buffer);
        oh_lapm_write(lapm, buffer, in.next());
        break;
      case 5:
        delivered += oh_lapm_read(lapm, buffer, in.next());
        break;
      case 6:
        if (what & 8) oh_lapm_set_busy(lapm, what & 16);
        if (what & 32) oh_lapm_send_break(lapm, what, 0);
        if (what & 64) oh_lapm_set_bit_rates(lapm, in.next() * 300u, in.next() * 300u);
        break;
      default:
        if ((what & 0xF8) == 0xF8) oh_lapm_disconnect(lapm);
        break;
    }
    oh_lapm_status status;
    oh_lapm_get_status(lapm, &status);
    if (delivered > status.bytes_delivered || status.n401_rx > 256 || status.k_rx > config.link.window) abort();
  }
  free(memory);
  return 0;
}
