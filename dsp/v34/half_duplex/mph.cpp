// SPDX-License-Identifier: MIT
#include "dsp/v34/half_duplex/mph.h"

#include "dsp/v34/coding/mp_end.h"

namespace offhook::v34 {
namespace {

constexpr int kMostRate = 14;

// Tables 23 and 24 up to the CRC.
template <class Io, class V>
void layout(Io& io, V& v) {
  io.fixed(kMpSync, 17);
  io.fixed(kMpStart, 1);
  io.field(v.type1, 1);
  io.reserved(1);
  io.field(v.max_rate, 4);
  io.reserved(3);
  io.field(v.control_2400, 1);
  io.reserved(1);
  io.field(v.trellis, 2);
  io.field(v.nonlinear, 1);
  io.field(v.expanded, 1);
  io.reserved(1);
  io.fixed(kMpStart, 1);
  io.field(v.rate_mask, kMostRate);
  io.reserved(1);
  io.field(v.asymmetric_control, 1);
  io.fixed(kMpStart, 1);
  end_mp(io, v);
}

}  // namespace

int encode(const Mph& mph, uint8_t* bits) {
  FieldWriter io(bits);
  layout(io, mph);
  io.fixed(0, mph.bits() - io.size());
  return mph.bits();
}

bool decode(const uint8_t* bits, Mph* mph) {
  *mph = {};
  FieldReader io(bits);
  layout(io, *mph);
  return io.good() && mph->trellis <= TrellisCode::k64 && mph->max_rate >= 1 && mph->max_rate <= kMostRate;
}

HalfDuplexRates resolve_rates(const Mph& own, const Mph& far) {
  HalfDuplexRates r{};
  const uint32_t mask = own.rate_mask & far.rate_mask;
  r.primary = own.max_rate < far.max_rate ? own.max_rate : far.max_rate;
  while (r.primary > 0 && (mask >> (r.primary - 1) & 1) == 0) --r.primary;
  const bool both = own.control_2400 && far.control_2400;
  const bool asymmetric = own.asymmetric_control && far.asymmetric_control;
  r.tx_control_2400 = asymmetric ? far.control_2400 : both;
  r.rx_control_2400 = asymmetric ? own.control_2400 : both;
  return r;
}

}  // namespace offhook::v34
