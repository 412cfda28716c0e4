// SPDX-License-Identifier: MIT
#include "dsp/v34/phase2/info.h"

#include <utility>

namespace offhook::v34 {
namespace {

// Frame around every sequence. A reader skips the fill bits at the beginning and the end, where a receiver may cut.
void begin(FieldWriter& io) {
  io.fixed(0b1111, 4), io.fixed(InfoReceiver<Info0>::kSync, 8);
}
void end(FieldWriter& io) {
  io.crc(), io.fixed(0b1111, 4);
}
void begin(FieldReader& io) {
  io.fixed(InfoReceiver<Info0>::kSync, 8);
}
void end(FieldReader& io) {
  io.crc();
}

// Tables 14 (V.34) and 7 (V.90): bits 12 to 28.
template <class Io, class V>
void capabilities(Io& io, V& v) {
  io.field(v.supports_2743, 1);
  io.field(v.supports_2800, 1);
  io.field(v.supports_3429, 1);
  io.field(v.low_carrier_3000, 1);
  io.field(v.high_carrier_3000, 1);
  io.field(v.low_carrier_3200, 1);
  io.field(v.high_carrier_3200, 1);
  io.field(v.may_transmit_3429, 1);
  io.field(v.can_reduce_power, 1);
  io.field(v.max_rate_difference, 3);
  io.field(v.cme, 1);
  io.field(v.supports_1664_points, 1);
  io.field(v.clock, 2);
  io.field(v.acknowledge, 1);
}

template <class Io, class V>
void layout_info0(Io& io, V& v) {
  begin(io);
  capabilities(io, v);
  end(io);
}

template <class Io, class V>
void layout_info0d(Io& io, V& v) {
  begin(io);
  capabilities(io, v.v34);
  io.field(v.nominal_power, 4);
  io.field(v.max_power, 5);
  io.field(v.power_at_codec, 1);
  io.field(v.a_law, 1);
  io.field(v.upstream_3429, 1);
  io.reserved(1);
  end(io);
}

template <class Io, class V>
void probing_result(Io& io, V& v) {
  io.field(v.carrier, 1);
  io.field(v.pre_emphasis, 4);
  io.field(v.max_rate, 4);
}

bool is_defined(const ProbingResult& v) {
  return v.pre_emphasis <= 10 && v.max_rate <= 14;
}

// Table 15.
template <class Io, class V>
void layout_info1c(Io& io, V& v) {
  begin(io);
  io.field(v.min_power_reduction, 3);
  io.field(v.extra_power_reduction, 3);
  io.field(v.md_length, 7);
  for (auto& result : v.probing) probing_result(io, result);
  io.field(v.frequency_offset, 10);
  end(io);
}

// Table 16.
template <class Io, class V>
void layout_info1a(Io& io, V& v) {
  begin(io);
  io.field(v.min_power_reduction, 3);
  io.field(v.extra_power_reduction, 3);
  io.field(v.md_length, 7);
  probing_result(io, v.call_to_answer);
  io.field(v.rate_answer_to_call, 3);
  io.field(v.rate_call_to_answer, 3);
  io.field(v.frequency_offset, 10);
  end(io);
}

// Table 10/V.90. `rate_downstream` distinguishes it from the other INFO1a.
constexpr uint8_t kRate8000 = 6;

template <class Io, class V, class Rate>
void layout_info1a_v90(Io& io, V& v, Rate& rate_upstream, Rate& rate_downstream) {
  begin(io);
  io.field(v.filter_sections, 2);
  io.field(v.total_taps, 2);
  io.field(v.section_taps, 2);
  io.field(v.md_length, 7);
  io.field(v.u_info, 7);
  io.reserved(1);
  io.field(v.high_carrier, 1);
  io.field(rate_upstream, 3);
  io.field(rate_downstream, 3);
  io.field(v.frequency_offset, 10);
  end(io);
}

// Table 22.
template <class Io, class V>
void layout_infoh(Io& io, V& v) {
  begin(io);
  io.field(v.power_reduction, 3);
  io.field(v.trn_length, 7);
  io.field(v.carrier, 1);
  io.field(v.pre_emphasis, 4);
  io.field(v.symbol_rate, 3);
  io.field(v.trn_16_points, 1);
  end(io);
}

constexpr int kFillBits = 4;

}  // namespace

ProbingResult usable(const ProbingResult& result) {
  return is_defined(result) ? result : ProbingResult{result.carrier, 0, 0};
}

void encode(const Info0& info, uint8_t* bits) {
  FieldWriter io(bits);
  layout_info0(io, info);
}

void encode(const Info0d& info, uint8_t* bits) {
  Info0d sent = info;
  sent.v34.clock = static_cast<TransmitClock>((info.short_phase2 ? 1 : 0) | (info.v92 ? 2 : 0));
  FieldWriter io(bits);
  layout_info0d(io, sent);
}

void encode(const Info1c& info, uint8_t* bits) {
  FieldWriter io(bits);
  layout_info1c(io, info);
}

void encode(const Info1a& info, uint8_t* bits) {
  FieldWriter io(bits);
  layout_info1a(io, info);
}

void encode(const Info1aV90& info, uint8_t* bits) {
  FieldWriter io(bits);
  Info1aV90 sent = info;
  uint8_t rate = static_cast<uint8_t>(info.rate_upstream);
  constexpr int16_t kAllOnes = -1;
  if (info.pcm_upstream) rate = kRate8000, sent.frequency_offset = kAllOnes;
  layout_info1a_v90(io, sent, std::as_const(rate), kRate8000);
}

void encode(const InfoH& info, uint8_t* bits) {
  FieldWriter io(bits);
  layout_infoh(io, info);
}

bool decode(const uint8_t* bits, Info0* info) {
  FieldReader io(bits + kFillBits);
  layout_info0(io, *info);
  return io.good();
}

bool decode(const uint8_t* bits, Info0d* info) {
  FieldReader io(bits + kFillBits);
  layout_info0d(io, *info);
  const auto v92 = static_cast<unsigned>(info->v34.clock);
  info->short_phase2 = (v92 & 1) != 0;
  info->v92 = (v92 & 2) != 0;
  info->v34.clock = TransmitClock::kInternal;
  return io.good();
}

bool decode(const uint8_t* bits, Info1c* info) {
  FieldReader io(bits + kFillBits);
  layout_info1c(io, *info);
  return io.good();
}

bool decode(const uint8_t* bits, Info1a* info) {
  FieldReader io(bits + kFillBits);
  layout_info1a(io, *info);
  return io.good() && is_defined(info->call_to_answer) && info->rate_answer_to_call <= SymbolRate::k3429 &&
         info->rate_call_to_answer <= SymbolRate::k3429;
}

bool decode(const uint8_t* bits, Info1aV90* info) {
  FieldReader io(bits + kFillBits);
  uint8_t rate_upstream = 0, rate_downstream = 0;
  layout_info1a_v90(io, *info, rate_upstream, rate_downstream);
  info->pcm_upstream = rate_upstream == kRate8000;
  info->rate_upstream = info->pcm_upstream ? SymbolRate::k3200 : static_cast<SymbolRate>(rate_upstream);
  return io.good() && rate_downstream == kRate8000 && info->u_info > 66 && info->rate_upstream >= SymbolRate::k3000 &&
         info->rate_upstream <= SymbolRate::k3429;
}

bool decode(const uint8_t* bits, InfoH* info) {
  FieldReader io(bits + kFillBits);
  layout_infoh(io, *info);
  return io.good() && info->pre_emphasis <= 10 && info->symbol_rate <= SymbolRate::k3429;
}

}  // namespace offhook::v34
