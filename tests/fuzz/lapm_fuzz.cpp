// SPDX-License-Identifier: MIT
//
// A whole LAPM on arbitrary input: raw bits, or frames with a good check sequence so that they get past it. Memory is
// exactly what oh_lapm_size() said; the user reads sometimes.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "dsp/v42/hdlc.h"
#include "dsp/v42/lapm.h"

using namespace offhook::v42;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const uint8_t options = data[0];
  oh_lapm_config config;
  oh_lapm_default_config(&config, options & 1 ? OH_PUMP_ANSWER : OH_PUMP_CALL, 2400);
  config.detect = options >> 1 & 1;
  config.srej = options >> 2 & 1;
  config.fcs32 = options >> 3 & 1;
  config.k = uint8_t(15 + data[1] % 113);
  const size_t bytes = oh_lapm_size(&config);
  if (bytes == 0) return 0;
  void* memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  oh_lapm* lapm = oh_lapm_init(memory, &config);
  const oh_bit_port port = oh_lapm_port(lapm);
  uint8_t user[256] = {};
  const auto bit = [&](int b) {
    port.put_bit(port.user, b);
    port.get_bit(port.user);
    oh_lapm_advance(lapm, 3);
  };
  oh_lapm_write(lapm, user, sizeof user);

  HdlcSender sender;
  uint8_t frame[256 + kMaxFcs];
  sender.init(frame);
  size_t at = 2;
  while (at < size) {
    const size_t n = data[at] & 0x7f;
    const bool framed = data[at] & 0x80;
    at++;
    const size_t take = n < size - at ? n : size - at;
    if (!framed) {
      for (size_t i = 0; i < take * 8; i++) bit(data[at + i / 8] >> (i % 8) & 1);
    } else if (take > 0) {
      while (!sender.ready()) bit(sender.next());
      for (size_t i = 0; i < take; i++) frame[i] = data[at + i];
      sender.load(take, options >> 4 & 1);
      for (size_t i = 0; i < (take + kMaxFcs) * 10 + 16; i++) bit(sender.next());
    }
    at += take;
    if (options & 0x20) oh_lapm_read(lapm, user, sizeof user);
    if (options & 0x40) oh_lapm_write(lapm, user, n);
  }
  oh_lapm_status status;
  oh_lapm_get_status(lapm, &status);
  free(memory);
  return 0;
}
