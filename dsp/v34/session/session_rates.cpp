// SPDX-License-Identifier: MIT
//
// The settings that follow from the MP sequences of both ends: rates, coding, and the noise at which they no longer
// fit.
#include "dsp/v34/session/session.h"

namespace offhook::v34 {

RateLimits Session::limits(bool receive) const {
  RateLimits l{};
  l.symbol_rate = receive ? config_.rx_symbol_rate : config_.tx_symbol_rate;
  l.trellis = config_.trellis;
  l.expanded = config_.expanded;
  for (const auto& h : quality_.precoder.h) l.precoding |= h.re != 0 || h.im != 0;
  l.aux = config_.aux;
  l.points_1664 = config_.points_1664;
  l.max_bit_rate = config_.max_bit_rate;
  return l;
}

double Session::training_snr() const {
  return quality_.snr > 0 ? quality_.snr : 1 / static_cast<double>(training_.error);
}

Mp Session::make_mp() const {
  Mp mp{};
  if (clears_down() && initiator_) {
    mp.trellis = config_.trellis;
    mp.acknowledge = mp_.received;
    return mp;
  }
  const RateLimits rx = limits(true), tx = limits(false);
  const uint8_t receive =
      receive_rate_.choose(rx, training_snr(), config_.margin, procedure_ == Procedure::kRenegotiation, max_rx_rate_);
  const uint8_t transmit = highest_rate(tx);
  mp.type1 = rx.precoding;
  mp.max_call_to_answer = calls() ? transmit : receive;
  mp.max_answer_to_call = calls() ? receive : transmit;
  mp.aux = config_.aux;
  mp.trellis = config_.trellis;
  mp.nonlinear = config_.nonlinear;
  mp.expanded = config_.expanded;
  mp.acknowledge = mp_.received;
  mp.rate_mask = rate_mask(tx, rx);
  mp.asymmetric = config_.asymmetric;
  if (mp.type1) mp.precoder = quality_.precoder;
  return mp;
}

// The joint result of both MP. The far end's choices apply to this end's transmitter, and the reverse.
void Session::agree() {
  const Mp &own = mp_.own, &far = mp_.far;
  rates_ = resolve_rates(own, far);
  if (far.type1) own_precoder_ = far.precoder;
  if (own.type1) far_precoder_ = own.precoder;
  const bool aux = own.aux && far.aux;
  const auto parameters = [&](SymbolRate s, uint8_t rate, const Mp& asked, const PrecoderCoefficients& h,
                              oh_pump_role transmitter) {
    const uint32_t bit_rate = static_cast<uint32_t>(rate) * 2400;
    if (!is_supported(s, bit_rate)) return DataParameters{};
    return DataParameters{
        {make_framing(s, bit_rate, aux, asked.expanded), scrambling_of(transmitter), asked.trellis, h},
        asked.nonlinear,
        bit_rate};
  };
  const uint8_t tx_rate = calls() ? rates_.call_to_answer : rates_.answer_to_call;
  tx_parameters_ = parameters(config_.tx_symbol_rate, tx_rate, far, own_precoder_, config_.role);
  rx_parameters_ = parameters(config_.rx_symbol_rate, rx_rate(), own, far_precoder_, far_role(config_.role));
  if (tx_parameters_.bit_rate == 0 || rx_parameters_.bit_rate == 0) rates_ = {};
}

void Session::begin_monitor() {
  receive_rate_.start(rx_parameters_, limits(true), mp_.own.rate_mask & mp_.far.rate_mask,
                      calls() ? mp_.far.max_answer_to_call : mp_.far.max_call_to_answer, mp_snr_, b1_variance_);
}

}  // namespace offhook::v34
