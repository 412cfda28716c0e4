// SPDX-License-Identifier: MIT
#include "dsp/radio/burst.h"

#include <algorithm>

namespace offhook::radio {
namespace {

constexpr unsigned kHeaderOctets = 5;
constexpr modulation_scheme kHeaderModulation = LIQUID_MODEM_QPSK;

void configure(qpacketmodem packet, unsigned octets, crc_scheme check, const Rate& rate) {
  qpacketmodem_configure(packet, octets, check, rate.code, LIQUID_FEC_NONE, rate.modulation);
}

/// The most octets of a rate that fit into `symbols`, for which `packet` stays configured. @pre two octets fit
unsigned fit(qpacketmodem packet, const Rate& rate, unsigned symbols) {
  unsigned octets = symbols * modulation_types[rate.modulation].bps / 8;
  do {
    configure(packet, --octets, LIQUID_CRC_24, rate);
  } while (octets > 1 && qpacketmodem_get_frame_len(packet) > symbols);
  return octets;
}

}  // namespace

Packets::Packets(unsigned symbols) : header_(qpacketmodem_create()) {
  configure(header_.get(), kHeaderOctets, LIQUID_CRC_16, {kHeaderModulation, LIQUID_FEC_GOLAY2412, 0});
  header_symbols_ = qpacketmodem_get_frame_len(header_.get());
  payload_symbols_ = symbols - header_symbols_;
  for (std::size_t rate = 0; rate < kRates.size(); ++rate) {
    payload_[rate].reset(qpacketmodem_create());
    octets_[rate] = fit(payload_[rate].get(), kRates[rate], payload_symbols_);
  }
  scrambled_.resize(*std::max_element(octets_.begin(), octets_.end()));
}

void Packets::encode_header(const BurstHeader& h, Complex* symbols) {
  std::array<std::uint8_t, kHeaderOctets> octets = {
      static_cast<std::uint8_t>(h.slot), static_cast<std::uint8_t>(h.slot >> 8),
      static_cast<std::uint8_t>(h.rate | h.best_rate << 4),
      static_cast<std::uint8_t>(h.from_caller | h.hears << 1 | h.data << 2 | h.ends << 3 | (h.address & 15) << 4),
      static_cast<std::uint8_t>(h.address >> 4)};
  scramble_data(octets.data(), kHeaderOctets);
  qpacketmodem_encode(header_.get(), octets.data(), symbols);
}

void Packets::encode(const BurstHeader& h, const std::uint8_t* payload, Complex* symbols) {
  encode_header(h, symbols);
  std::copy_n(payload, octets_[h.rate], scrambled_.begin());
  scramble_data(scrambled_.data(), octets_[h.rate]);
  qpacketmodem const packet = payload_[h.rate].get();
  qpacketmodem_encode(packet, scrambled_.data(), symbols + header_symbols_);
  // Symbols that the rate does not need are filled, so that all bursts have the same length and power.
  for (unsigned k = qpacketmodem_get_frame_len(packet); k < payload_symbols_; ++k) {
    symbols[header_symbols_ + k] = {k % 2 ? kRootHalf : -kRootHalf, k % 3 ? kRootHalf : -kRootHalf};
  }
}

bool Packets::decode_header(Complex* symbols, BurstHeader& h) {
  std::array<std::uint8_t, kHeaderOctets> octets{};
  if (!qpacketmodem_decode_soft(header_.get(), symbols, octets.data())) return false;
  unscramble_data(octets.data(), kHeaderOctets);
  h.slot = static_cast<std::uint16_t>(octets[0] | octets[1] << 8);
  h.rate = octets[2] & 15;
  h.best_rate = octets[2] >> 4;
  h.from_caller = octets[3] & 1;
  h.hears = octets[3] & 2;
  h.data = octets[3] & 4;
  h.ends = octets[3] & 8;
  h.address = static_cast<std::uint16_t>(octets[3] >> 4 | octets[4] << 4);
  return h.rate < kRates.size() && h.best_rate < kRates.size();
}

bool Packets::decode_payload(Complex* symbols, unsigned rate, std::uint8_t* payload) {
  if (!qpacketmodem_decode_soft(payload_[rate].get(), symbols + header_symbols_, payload)) return false;
  unscramble_data(payload, octets_[rate]);
  return true;
}

}  // namespace offhook::radio
