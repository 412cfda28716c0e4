// SPDX-License-Identifier: MIT
//
// Both V.90 pumps on damaged lines: the input says when what they hear is replaced, when samples are lost, and when
// either is asked for something. The first byte says how much of the call goes well.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/v90_call.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using offhook::V90Call;
  if (size == 0) return 0;
  V90Call::Options o;
  o.v8 = (data[0] & 1) != 0;
  V90Call call(o);
  call.run(data[0] * 12. / 255);
  const std::size_t most = size < 300 ? size : 300;
  for (std::size_t n = 1; n < most; ++n) {
    const int how = data[n] >> 3;
    switch (data[n] & 7) {
      case 5:
        call.lose(how * 8);
        break;
      case 6:
        if (how & 1) oh_v90_renegotiate(call.digital());
        if (how & 2) oh_v90_renegotiate(call.analogue());
        if (how & 4) oh_v90_retrain(call.digital());
        if (how & 8) oh_v90_retrain(call.analogue());
        break;
      case 7:
        oh_v90_type()->hang_up(call.analogue());
        break;
      default:
        call.damage(static_cast<V90Call::Damage>(data[n] & 7));
        break;
    }
    call.run(0.01);
    call.damage(V90Call::Damage::kNone);
  }
  if (call.analogue_status().samples == 0) std::abort();
  return 0;
}
