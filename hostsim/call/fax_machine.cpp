// SPDX-License-Identifier: MIT
#include "hostsim/call/fax_machine.h"

#include <deque>
#include <span>
#include <vector>

#include "driver/base/udptl.h"
#include "driver/fax/modems.h"
#include "driver/fax/t38_gateway.h"
#include "driver/fax/t38_terminal.h"
#include "driver/fax/terminal.h"
#include "driver/fax/v34_modems.h"
#include "hostsim/engine/random.h"

namespace offhook::hostsim {
namespace {

constexpr Ns kMs = 1'000'000;
enum : std::uint64_t {                     // streams of random numbers
  kLossesToNetwork = 0x74333867'00000000,  // "t38g"
  kLossesToLine
};

oh_pump_status status_of(const oh_pump_type* type, const void* self) {
  oh_pump_status s{};
  type->status(self, &s);
  return s;
}

class LineMachine final : public FaxMachine {
 public:
  LineMachine(oh_pump_role role, const fax::TerminalConfig& config)
      : pump_(fax::make_pump(role)), terminal_(pump_.get(), config) {}
  oh_pump pump() const override { return oh_pump_at(fax::pump_type(), pump_.get()); }
  oh_pump_status status() const override { return status_of(fax::pump_type(), pump_.get()); }
  void poll(Ns) override { terminal_.poll(); }
  void end_call() override { terminal_.end_call(); }
  const fax::Progress& progress() const override { return terminal_.progress(); }
  std::uint64_t starved_bits() const override { return fax::counters_of(pump_.get()).starved_bits; }

 private:
  fax::OwnPump pump_;
  fax::Terminal terminal_;
};

class V34Machine final : public FaxMachine {
 public:
  V34Machine(oh_pump_role role, const fax::TerminalConfig& config)
      : modems_({.role = role, .source = !config.send.empty()}), terminal_(modems_.rings(), config) {}
  oh_pump pump() const override { return modems_.pump(); }
  oh_pump_status status() const override { return modems_.status(); }
  void poll(Ns) override { terminal_.poll(); }
  void end_call() override { terminal_.end_call(); }
  const fax::Progress& progress() const override { return terminal_.progress(); }

 private:
  fax::V34Modems modems_;
  fax::Terminal terminal_;
};

/// One direction of the packet network. The order of datagrams stays.
class PacketPath {
 public:
  PacketPath(const Scenario& s, std::uint64_t stream)
      : losses_(s.seed, stream),
        loss_(s.fax.packet_loss),
        delay_(static_cast<Ns>(s.fax.packet_delay_ms * kMs)),
        writer_(s.fax.packet_copies, kMostUdptlOctets) {}

  void send(Ns now, std::span<const std::uint8_t> packet, int times) {
    ++packets_.sent;
    std::vector<std::uint8_t> datagram = writer_.next(packet);
    for (int k = 0; k < times; ++k) send_datagram(now, datagram);
    repeat_.note(std::move(datagram), now / kMs);
  }
  template <class Machine>
  void deliver(Ns now, Machine& to) {
    if (const auto again = repeat_.due(now / kMs); !again.empty()) send_datagram(now, again);
    for (; !queue_.empty() && queue_.front().at <= now; queue_.pop_front()) {
      const auto news = reader_.take(queue_.front().octets);
      if (!news) continue;
      packets_.lost += news->lost;
      packets_.recovered += news->packets.size() - 1;
      for (std::size_t k = 0; k < news->packets.size(); ++k)
        to.receive(static_cast<std::uint16_t>(news->first + k), news->packets[k]);
    }
  }
  const FaxMachine::Packets& packets() const { return packets_; }

 private:
  struct Datagram {
    Ns at;
    std::vector<std::uint8_t> octets;
  };
  void send_datagram(Ns now, std::span<const std::uint8_t> datagram) {
    if (losses_.uniform(datagrams_++) >= loss_) queue_.push_back({now + delay_, {datagram.begin(), datagram.end()}});
  }
  Random losses_;
  double loss_;
  Ns delay_;
  UdptlWriter writer_;
  UdptlRepeat repeat_;
  UdptlReader reader_;
  std::deque<Datagram> queue_;
  std::uint64_t datagrams_ = 0;
  FaxMachine::Packets packets_;
};

class GatewayMachine final : public FaxMachine {
 public:
  GatewayMachine(const Scenario& s, const fax::TerminalConfig& config)
      : to_network_(s, kLossesToNetwork),
        to_line_(s, kLossesToLine),
        gateway_({}, [this](auto packet, int times) { to_network_.send(now_, packet, times); }, {}),
        terminal_(config, [this](auto packet, int times) { to_line_.send(now_, packet, times); }) {}
  oh_pump pump() const override { return gateway_.pump(); }
  oh_pump_status status() const override { return status_of(fax::gateway_type(), gateway_.pump_memory()); }
  void poll(Ns now) override {
    if (now_ < 0) begun_ = now;
    now_ = now;
    gateway_.poll();
    to_network_.deliver(now, terminal_);
    to_line_.deliver(now, gateway_);
    constexpr Ns kNsPerTick = 1'000'000'000 / fax::T38Terminal::kClockHz;
    const auto ticks = static_cast<std::uint64_t>((now - begun_) / kNsPerTick);
    terminal_.advance(static_cast<std::uint32_t>(ticks - ticks_));
    ticks_ = ticks;
  }
  void end_call() override { terminal_.end_call(); }
  const fax::Progress& progress() const override { return terminal_.progress(); }
  Packets packets() const override {
    const Packets &a = to_network_.packets(), &b = to_line_.packets();
    return {a.sent + b.sent, a.recovered + b.recovered, a.lost + b.lost};
  }

 private:
  Ns now_ = -1, begun_ = 0;
  std::uint64_t ticks_ = 0;
  PacketPath to_network_, to_line_;
  fax::T38Gateway gateway_;
  fax::T38Terminal terminal_;
};

}  // namespace

std::unique_ptr<FaxMachine> make_fax_machine(oh_pump_role role, const fax::TerminalConfig& config, bool by_v34) {
  if (by_v34) return std::make_unique<V34Machine>(role, config);
  return std::make_unique<LineMachine>(role, config);
}

std::unique_ptr<FaxMachine> make_fax_gateway(const Scenario& scenario, const fax::TerminalConfig& config) {
  return std::make_unique<GatewayMachine>(scenario, config);
}

}  // namespace offhook::hostsim
