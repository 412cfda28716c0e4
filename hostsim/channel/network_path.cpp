// SPDX-License-Identifier: MIT
#include "hostsim/channel/network_path.h"

#include <bit>
#include <stdexcept>

#include "hostsim/channel/line_config.h"

namespace offhook::hostsim {
namespace {

void expect(bool good, const char* what) {
  if (!good) throw std::invalid_argument(what);
}

const NetworkFaults& checked(const NetworkFaults& f) {
  expect(f.slip_every_s == 0 || (f.slip_every_s >= 0.01 && f.slip_every_s <= 1e6),
         "trunk.slip_every_s: expected 0, or 0.01 to 1000000");
  expect(f.packet_ms == 0 || (f.packet_ms >= 1 && f.packet_ms <= 100), "trunk.packet_ms: expected 0, or 1 to 100");
  expect(f.packet_loss >= 0 && f.packet_loss <= 1, "trunk.packet_loss: expected 0 to 1");
  expect(f.jump_every_s == 0 || (f.jump_every_s >= 0.01 && f.jump_every_s <= 1e6),
         "trunk.jump_every_s: expected 0, or 0.01 to 1000000");
  expect(f.jump_ms >= 0 && f.jump_ms <= 500, "trunk.jump_ms: expected 0 to 500");
  expect(f.packet_ms > 0 || (f.packet_loss == 0 && f.jump_every_s == 0),
         "trunk.packet_ms: expected 1 to 100 with trunk.packet_loss or trunk.jump_every_s");
  return f;
}

std::size_t octets(double ms) {
  return static_cast<std::size_t>(ms * kLineRateHz / 1000 + 0.5);
}

}  // namespace

NetworkPath::NetworkPath(const NetworkFaults& f, std::size_t delay, std::uint8_t silence, Random random, double late)
    : packet_(octets(checked(f).packet_ms)),
      jump_(octets(f.jump_ms)),
      loss_(f.packet_loss),
      concealment_(f.concealment),
      silence_(silence),
      random_(random),
      behind_(delay + 2 * packet_ + (f.slip_every_s > 0 ? 1 : 0)) {
  const auto octets_in = [](double s) { return static_cast<std::uint64_t>(s * kLineRateHz + 0.5); };
  slips_.every = octets_in(f.slip_every_s);
  slips_.next = slips_.every + octets_in(late * f.slip_every_s);
  // The directions jump alternately.
  jumps_.every = octets_in(2 * f.jump_every_s);
  jumps_.next = octets_in((1 + 2 * late) * f.jump_every_s);
  slips_.back = true;  // the first deletes
  store_.assign(std::bit_ceil(behind_ + jump_ + packet_ + 2), silence);
}

void NetworkPath::end_packet() {
  const std::uint64_t packet = written_ / packet_ - 1;
  if (random_.uniform(packet) >= loss_) return;
  for (std::uint64_t n = written_ - packet_; n < written_; ++n)
    at(n) = concealment_ && n >= packet_ ? at(n - packet_) : silence_;
}

std::uint8_t NetworkPath::put(std::uint8_t octet) {
  at(written_) = octet;
  if (slips_.due(written_)) behind_ = slips_.back ? behind_ + 1 : behind_ - 1;
  if (jumps_.due(written_)) {
    behind_ = jumps_.back ? behind_ + jump_ : behind_ - jump_;
    silent_ = jumps_.back && !concealment_ ? jump_ : 0;
  }
  const std::uint8_t out = written_ < behind_ ? silence_ : at(written_ - behind_);
  ++written_;
  if (packet_ > 0 && written_ % packet_ == 0) end_packet();
  if (silent_ == 0) return out;
  --silent_;
  return silence_;
}

}  // namespace offhook::hostsim
