// SPDX-License-Identifier: MIT
// A whole LAPM end under arbitrary input: raw bits, or frames with a right check sequence so that they get past it,
// mixed with time, reads, writes and the user's requests.
#include <stdlib.h>
#include <string.h>

#include "dsp/link/hdlc.h"
#include "dsp/link/lapm.h"
#include "tests/fuzz/link_input.h"

namespace {

using offhook::fuzz::exchange;
using offhook::fuzz::Input;

oh_lapm_config config_of(Input& in) {
  oh_lapm_config config;
  const uint8_t options = in.next();
  oh_lapm_default_config(&config, options & 1 ? OH_PUMP_ANSWER : OH_PUMP_CALL, 2400);
  config.link.skip_detection = (options >> 1 & 1) ^ 1u;
  config.srej = options >> 2 & 1;
  config.fcs32 = options >> 3 & 1;
  config.link.window = options & 16 ? 127 : 15;
  config.n401 = options & 32 ? 300 : 128;
  config.buffer_bytes = options & 64 ? 8192 : 600;
  const uint8_t compression = options & 128 ? in.next() : 0;
  config.link.compression = compression & 3;
  config.link.v44 = compression >> 2 & 3;
  config.link.codewords = 512;
  return config;
}

void send_frame(oh_bit_port& port, offhook::v42::HdlcSender& sender, uint8_t what, Input& in) {
  const size_t n = 2 + in.next() % 200 + (what & 128 ? 150 : 0);
  while (!sender.ready()) exchange(port, sender.next());
  for (size_t i = 0; i < n; ++i) sender.buffer()[i] = i == 0 && !(what & 64) ? uint8_t(1 | (what >> 4 & 2)) : in.next();
  sender.load(n, what & 8);
  while (!sender.ready()) exchange(port, sender.next());
}

/// Requests that a user may make, and flags. @param test  [test_size] of a TEST frame
void request(oh_lapm* lapm, oh_bit_port& port, offhook::v42::HdlcSender& sender, uint8_t what, Input& in,
             const uint8_t* test, size_t test_size) {
  switch (what >> 3 & 7) {
    case 0:
      oh_lapm_set_busy(lapm, 1);
      break;
    case 1:
      oh_lapm_set_busy(lapm, 0);
      break;
    case 2:
      oh_lapm_send_break(lapm, in.next(), in.next());
      break;
    case 3:
      oh_lapm_send_test(lapm, test, test_size);
      break;
    case 4:
      oh_lapm_set_bit_rates(lapm, in.next() * 300u, in.next() * 300u);
      break;
    case 5:
      for (int i = 0; i < 400; ++i) exchange(port, sender.next());
      break;
    case 6:
      if (what & 64) oh_lapm_disconnect(lapm);
      break;
    default:
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in{data, size};
  const oh_lapm_config config = config_of(in);
  const size_t bytes = oh_lapm_size(&config);
  void* memory = aligned_alloc(64, bytes);  // exactly this size, so that the sanitizer detects accesses beyond it
  oh_lapm* lapm = oh_lapm_init(memory, &config);
  if (!lapm) abort();
  oh_bit_port port{};
  oh_lapm_port(lapm, &port);
  uint8_t frame[1024];
  offhook::v42::HdlcSender sender;
  sender.init(frame);
  uint64_t delivered = 0;

  while (in.left > 0) {
    const uint8_t what = in.next();
    uint8_t buffer[256];
    switch (what & 7) {
      case 0:
      case 1:
      case 2:
        send_frame(port, sender, what, in);
        break;
      case 3:  // raw bits
        for (int i = 0; i < 8; ++i) exchange(port, what & 8 ? in.next() & 1 : 1);
        break;
      case 4:
        oh_lapm_advance(lapm, 1u << (what >> 3 & 15));
        break;
      case 5:
        memset(buffer, what, sizeof buffer);
        oh_lapm_write(lapm, buffer, in.next());
        break;
      case 6:
        delivered += oh_lapm_read(lapm, buffer, in.next());
        break;
      case 7:
        request(lapm, port, sender, what, in, data, size < 64 ? size : 64);
        break;
    }
    oh_lapm_status status;
    oh_lapm_get_status(lapm, &status);
    if (delivered > status.bytes_delivered || status.n401_rx > config.n401 || status.k_rx > config.link.window) abort();
  }
  free(memory);
  return 0;
}
