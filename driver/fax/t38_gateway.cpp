// SPDX-License-Identifier: MIT
#include "driver/fax/t38_gateway.h"

#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "driver/base/ifp.h"
#include "driver/base/udptl.h"
#include "driver/fax/fax_pump_type.h"
#include "driver/fax/modems.h"
#include "dsp/blocks/level.h"
#include "dsp/blocks/linear_high_pass.h"

namespace offhook::fax {
namespace {

constexpr float kSpandspDbm0 = -14;  // of every modulator of spandsp, until it is told another level

struct Packet {
  std::uint16_t number = 0;  // of UDPTL, if it is from the network
  std::uint16_t length = 0;
  std::int32_t times = 1;
  std::array<std::uint8_t, kMostUdptlOctets> octets;
};
/// 64 packets of 30 ms: the owner may stall for more than a second.
using PacketRing = SlotRing<64, Packet>;
using FrameRing = SlotRing<32>;

class Gateway {
 public:
  explicit Gateway(const oh_pump_config& c);
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;
  ~Gateway() { t38_gateway_release(&gateway_); }

  void allow(int modems, bool error_correction) {
    t38_gateway_set_supported_modems(&gateway_, modems);
    t38_gateway_set_ecm_capability(&gateway_, error_correction ? 1 : 0);
  }
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n);
  void report_gap(std::size_t n);
  void status(oh_pump_status* s) const;
  void hang_up() { released_ = true; }
  PacketRing& to_line() { return to_line_; }
  PacketRing& to_network() { return to_network_; }
  FrameRing& frames() { return frames_; }
  GatewayCounters counters() const;

 private:
  void take_packets();
  void transmit(std::int16_t* tx, std::size_t n);
  void on_packet(const std::uint8_t* octets, int length, int times);
  float level_dbm0() const { return power_meter_current_dbm0(const_cast<power_meter_t*>(&power_)); }
  void on_frame(bool from_line, const std::uint8_t* octets, int length);
  void publish();
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  t38_gateway_state_t gateway_;
  power_meter_t power_;
  LinearHighPass front_;
  PacketRing to_line_, to_network_;
  FrameRing frames_;
  std::atomic<std::uint64_t> samples_{0}, out_{0}, in_{0}, lost_{0};
  std::atomic<std::uint32_t> pages_{0}, bit_rate_{0};
  std::atomic<bool> corrects_{false};
  std::uint64_t filled_in_ = 0;
  float gain_;
  bool was_heard_ = false, released_ = false;
};

Gateway::Gateway(const oh_pump_config& c)
    : gain_(static_cast<float>(db_to_gain(static_cast<double>(c.tx_level_dbm0) - kSpandspDbm0))) {
  const auto packet = [](t38_core_state_t*, void* self, const std::uint8_t* octets, int length, int times) {
    static_cast<Gateway*>(self)->on_packet(octets, length, times);
    return 0;
  };
  power_meter_init(&power_, kPowerShift);
  t38_gateway_init(&gateway_, packet, this);
  t38_core_state_t* const core = t38_gateway_get_t38_core_state(&gateway_);
  t38_set_t38_version(core, T38Terminal::kVersion);
  t38_set_data_rate_management_method(core, T38Terminal::kTransferredTest);
  t38_gateway_set_transmit_on_idle(&gateway_, 1);
  allow(T30_SUPPORT_V27TER | T30_SUPPORT_V29 | T30_SUPPORT_V17, true);
  static constexpr std::uint8_t kNobody[3] = {};
  t38_gateway_set_nsx_suppression(&gateway_, kNobody, sizeof kNobody, kNobody, sizeof kNobody);
  t38_gateway_set_real_time_frame_handler(
      &gateway_,
      [](t38_gateway_state_t*, void* self, int from_line, const std::uint8_t* octets, int length) {
        static_cast<Gateway*>(self)->on_frame(from_line != 0, octets, length);
      },
      this);
}

void Gateway::on_packet(const std::uint8_t* octets, int length, int times) {
  Packet* const p = to_network_.free_slot();
  if (p == nullptr || length < 0 || static_cast<std::size_t>(length) > kMostUdptlOctets) return add(lost_, 1);
  p->length = static_cast<std::uint16_t>(length);
  p->times = times;
  std::copy_n(octets, length, p->octets.begin());
  to_network_.push();
  add(out_, 1);
}

void Gateway::on_frame(bool from_line, const std::uint8_t* octets, int length) {
  was_heard_ = true;
  if (from_line) v17_rx_signal_cutoff(&gateway_.audio.modems.fast_modems.v17_rx, v17_cutoff_dbm0(level_dbm0()));
  Message* const m = frames_.free_slot();
  if (m == nullptr || length < 0) return;
  m->kind = Kind::kFrame;
  m->value = from_line ? 0 : 1;
  m->length = static_cast<std::uint16_t>(std::min<std::size_t>(static_cast<std::size_t>(length), Message::kMostOctets));
  std::copy_n(octets, m->length, m->octets.begin());
  frames_.push();
}

void Gateway::take_packets() {
  t38_core_state_t* const core = t38_gateway_get_t38_core_state(&gateway_);
  while (const Packet* p = to_line_.front()) {
    t38_core_rx_ifp_packet(core, p->octets.data(), p->length, p->number);
    add(in_, 1);
    to_line_.pop();
  }
}

void Gateway::transmit(std::int16_t* tx, std::size_t n) {
  std::memset(tx, 0, n * sizeof *tx);
  t38_gateway_tx(&gateway_, tx, static_cast<int>(n));
  for (std::size_t i = 0; i < n; ++i) tx[i] = static_cast<std::int16_t>(std::clamp(gain_ * tx[i], -32768.f, 32767.f));
}

void Gateway::process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
  take_packets();
  std::int16_t heard[kChunk];  // spandsp removes DC in place
  for (std::size_t done = 0; done < n;) {
    const std::size_t now = std::min(kChunk, n - done);
    if (released_) {
      std::memset(tx + done, 0, now * sizeof *tx);
    } else {
      for (std::size_t i = 0; i < now; ++i) {
        heard[i] = clip(front_.process(rx[done + i]));
        power_meter_update(&power_, heard[i]);
      }
      t38_gateway_rx(&gateway_, heard, static_cast<int>(now));
      transmit(tx + done, now);
    }
    done += now;
  }
  add(samples_, n);
  publish();
}

void Gateway::report_gap(std::size_t n) {
  take_packets();
  filled_in_ += n;
  std::int16_t unheard[kChunk];
  for (std::size_t done = 0; done < n;) {
    const std::size_t now = std::min(kChunk, n - done);
    for (std::size_t i = 0; i < now; ++i) front_.process(0);
    if (!released_) {
      t38_gateway_rx_fillin(&gateway_, static_cast<int>(now));
      transmit(unheard, now);
    }
    done += now;
  }
  add(samples_, n);
  publish();
}

void Gateway::publish() {
  t38_stats_t stats;
  t38_gateway_get_transfer_statistics(&gateway_, &stats);
  pages_.store(static_cast<std::uint32_t>(std::max(stats.pages_transferred, 0)), std::memory_order_relaxed);
  bit_rate_.store(static_cast<std::uint32_t>(std::max(stats.bit_rate, 0)), std::memory_order_relaxed);
  corrects_.store(stats.error_correcting_mode != 0, std::memory_order_relaxed);
}

void Gateway::status(oh_pump_status* s) const {
  oh_pump_status all{};
  const bool page = gateway_.core.image_data_mode != 0 && gateway_.audio.modems.rx_trained != 0;
  all.state = released_ ? OH_PUMP_IDLE : !was_heard_ ? OH_PUMP_CONNECTING : page ? OH_PUMP_DATA : OH_PUMP_TRAINING;
  if (page) all.rx_bit_rate = bit_rate_.load(std::memory_order_relaxed);
  all.rx_level_dbm0 = level_dbm0();
  all.samples = samples_.load(std::memory_order_relaxed);
  all.filled_in = filled_in_;
  give_status(all, s);
}

GatewayCounters Gateway::counters() const {
  GatewayCounters c;
  c.packets_to_network = out_.load(std::memory_order_relaxed);
  c.packets_to_line = in_.load(std::memory_order_relaxed);
  c.lost_packets = lost_.load(std::memory_order_relaxed);
  c.pages = pages_.load(std::memory_order_relaxed);
  c.bit_rate = bit_rate_.load(std::memory_order_relaxed);
  c.error_correction = corrects_.load(std::memory_order_relaxed);
  return c;
}

using GatewayType = FaxPumpType<Gateway>;
constexpr oh_pump_type kGatewayType = GatewayType::named("t38-gateway");

}  // namespace

const oh_pump_type* gateway_type() {
  return &kGatewayType;
}

void T38Gateway::Free::operator()(void* self) const {
  gateway_type()->release(self);
  std::free(self);
}

T38Gateway::T38Gateway(const GatewayConfig& config, Send send, Frame frame)
    : send_(std::move(send)), frame_(std::move(frame)) {
  const int modems = supported_modems(config.max_bit_rate);
  oh_pump_config c{};
  c.struct_size = sizeof c;
  c.format = kLinear8000;
  c.tx_level_dbm0 = kTxLevelDbm0;
  void* const memory = std::aligned_alloc(64, gateway_type()->size(&c));
  if (memory == nullptr || gateway_type()->init(memory, &c) != 0) throw std::bad_alloc();  // nothing else can fail
  pump_.reset(memory);
  GatewayType::of(memory).allow(modems, config.error_correction);
}

T38Gateway::~T38Gateway() = default;

bool T38Gateway::receive(std::uint16_t number, std::span<const std::uint8_t> packet) {
  if (packet.size() > kMostUdptlOctets || !is_ifp(packet, T38Terminal::kVersion)) return false;
  PacketRing& ring = GatewayType::of(pump_.get()).to_line();
  Packet* const p = ring.free_slot();
  if (p == nullptr) {
    ++lost_;
    return true;
  }
  p->number = number;
  p->length = static_cast<std::uint16_t>(packet.size());
  std::ranges::copy(packet, p->octets.begin());
  ring.push();
  return true;
}

void T38Gateway::poll() {
  PacketRing& packets = GatewayType::of(pump_.get()).to_network();
  while (const Packet* p = packets.front()) {
    send_({p->octets.data(), p->length}, p->times);
    packets.pop();
  }
  constexpr std::size_t kControlField = 2;
  FrameRing& frames = GatewayType::of(pump_.get()).frames();
  while (const Message* m = frames.front()) {
    // The lowest bit of the facsimile control field depends on the sender, so it is ignored.
    if (m->length > kControlField && (m->octets[kControlField] & 0xFE) == (T30_DCN & 0xFE)) disconnected_ = true;
    if (frame_ && m->length > kControlField) frame_(m->value != 0, {m->octets.data(), m->length});
    frames.pop();
  }
}

GatewayCounters T38Gateway::counters() const {
  GatewayCounters c = GatewayType::of(pump_.get()).counters();
  c.lost_packets += lost_;
  return c;
}

}  // namespace offhook::fax
