// SPDX-License-Identifier: MIT
#include "dsp/v34/session/mp.h"

#include "dsp/v34/coding/mp_end.h"

namespace offhook::v34 {
namespace {

// Tables 20 and 21 up to the CRC. The information bits form words of 16, each after a start bit.
template <class Io, class V>
void layout(Io& io, V& v) {
  io.fixed(kMpSync, 17);
  io.fixed(kMpStart, 1);
  io.field(v.type1, 1);
  io.reserved(1);
  io.field(v.max_call_to_answer, 4);
  io.field(v.max_answer_to_call, 4);
  io.field(v.aux, 1);
  io.field(v.trellis, 2);
  io.field(v.nonlinear, 1);
  io.field(v.expanded, 1);
  io.field(v.acknowledge, 1);
  io.fixed(kMpStart, 1);
  io.field(v.rate_mask, 14);
  io.reserved(1);
  io.field(v.asymmetric, 1);
  io.fixed(kMpStart, 1);
  end_mp(io, v);
}

uint8_t min_of(uint8_t a, uint8_t b) {
  return a < b ? a : b;
}

}  // namespace

int encode(const Mp& mp, uint8_t* bits) {
  FieldWriter io(bits);
  layout(io, mp);
  io.fixed(0, mp.bits() - io.size());
  return mp.bits();
}

bool decode(const uint8_t* bits, Mp* mp) {
  *mp = {};
  FieldReader io(bits);
  layout(io, *mp);
  return io.good() && mp->trellis <= TrellisCode::k64 && mp->max_call_to_answer <= 14 && mp->max_answer_to_call <= 14;
}

RatePair resolve_rates(const Mp& a, const Mp& b) {
  const uint32_t mask = a.rate_mask & b.rate_mask;
  const auto highest = [mask](uint8_t limit) {
    uint8_t n = limit;
    while (n > 0 && !(mask >> (n - 1) & 1)) --n;
    return n;
  };
  const uint8_t call_to_answer = min_of(a.max_call_to_answer, b.max_call_to_answer);
  const uint8_t answer_to_call = min_of(a.max_answer_to_call, b.max_answer_to_call);
  if (a.asymmetric && b.asymmetric) return {highest(call_to_answer), highest(answer_to_call)};
  const uint8_t both = highest(min_of(call_to_answer, answer_to_call));
  return {both, both};
}

}  // namespace offhook::v34
