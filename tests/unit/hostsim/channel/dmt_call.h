// SPDX-License-Identifier: MIT
//
// An ATU-R and an ATU-C over a loop, each sending its own random bits and comparing what it gets with the other's, from
// the first bit on.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "dsp/dmt/pump.h"
#include "hostsim/channel/loop.h"

namespace offhook::test {

class DmtCall {
 public:
  struct End {
    const oh_pump_type* type = nullptr;
    void* self = nullptr;
    std::uint64_t own = 0, other = 0;  // seeds
    std::uint64_t sent = 0, received = 0, wrong = 0;

    /// Bit n of a stream (splitmix64 of its word).
    static int bit(std::uint64_t seed, std::uint64_t n) {
      std::uint64_t z = seed + (n / 64 + 1) * 0x9e3779b97f4a7c15u;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
      z = (z ^ z >> 27) * 0x94d049bb133111ebu;
      return static_cast<int>((z ^ z >> 31) >> n % 64 & 1);
    }
    oh_bit_port port() {
      oh_bit_port p{};
      p.user = this;
      p.get_bit = [](void* u) {
        auto& e = *static_cast<End*>(u);
        return bit(e.own, e.sent++);
      };
      p.put_bit = [](void* u, int b) {
        auto& e = *static_cast<End*>(u);
        e.wrong += b != bit(e.other, e.received++);
      };
      return p;
    }
    oh_pump_status status() const {
      oh_pump_status s{};
      s.struct_size = sizeof s;
      type->status(self, &s);
      return s;
    }
  };

  explicit DmtCall(hostsim::LoopConfig config, bool full_rate = false, std::uint64_t seed = 1) {
    config.downstream_hz = full_rate ? 2'208'000 : 1'104'000;
    config.front_end.full_scale_volts = full_rate ? 18 : 12;
    config.near_is_exchange = false;
    ratio_ = config.downstream_hz / hostsim::kUpstreamHz;
    make(&remote, oh_dmt_remote_type(), OH_PUMP_CALL, full_rate, 1);
    make(&central, oh_dmt_central_type(), OH_PUMP_ANSWER, full_rate, 2);
    remote.other = central.own;
    central.other = remote.own;
    oh_pump far{};
    far.self = this;
    far.process = [](void* self, const void* rx, void* tx, std::size_t n) {
      const auto& call = *static_cast<DmtCall*>(self);
      if (call.central_heard) call.central_heard(static_cast<const std::int16_t*>(rx), n);
      call.central.type->process(call.central.self, rx, tx, n);
    };
    far.report_gap = [](void* self, std::size_t n) {
      const End& end = static_cast<DmtCall*>(self)->central;
      end.type->report_gap(end.self, n);
    };
    loop = std::make_unique<hostsim::Loop>(config, seed, far);
    captured_.resize(kBlock * ratio_);
    played_.assign(kBlock, 0);
  }
  ~DmtCall() {
    for (void* memory : memory_) ::operator delete (memory, std::align_val_t{64});
  }
  DmtCall(const DmtCall&) = delete;
  DmtCall& operator=(const DmtCall&) = delete;

  /// One block of 64 periods.
  void step() {
    loop->exchange(played_.data(), captured_.data(), kBlock);
    if (tamper) tamper(captured_);
    oh_pump pump = oh_pump_at(remote.type, remote.self);
    pump.process(pump.self, captured_.data(), played_.data(), kBlock);
    periods += kBlock;
  }
  /// The ATU-R is not served for n periods: its input of that time is lost, and nothing is sent.
  void lose(std::size_t n) {
    std::fill(played_.begin(), played_.end(), std::int16_t{0});
    for (std::size_t left = n; left > 0;) {
      const std::size_t now = std::min(left, kBlock);
      loop->exchange(played_.data(), captured_.data(), now);
      left -= now;
    }
    oh_pump pump = oh_pump_at(remote.type, remote.self);
    pump.report_gap(pump.self, n);
    periods += n;
  }
  void run(double seconds) {
    for (const std::uint64_t end = periods + static_cast<std::uint64_t>(seconds * hostsim::kUpstreamHz); periods < end;)
      step();
  }
  bool in_data() const { return remote.status().state == OH_PUMP_DATA && central.status().state == OH_PUMP_DATA; }
  /// @return seconds from the start until both are in data; -1 if that takes more than `seconds` from now
  double connect(double seconds) {
    for (const std::uint64_t end = periods + static_cast<std::uint64_t>(seconds * hostsim::kUpstreamHz);
         periods < end;) {
      step();
      if (in_data()) return static_cast<double>(periods) / hostsim::kUpstreamHz;
    }
    return -1;
  }
  oh_dmt_instruments remote_instruments() const {
    oh_dmt_instruments i;
    oh_dmt_remote_instruments(remote.self, &i);
    return i;
  }
  oh_dmt_instruments central_instruments() const {
    oh_dmt_instruments i;
    oh_dmt_central_instruments(central.self, &i);
    return i;
  }

  static constexpr std::size_t kBlock = 64;
  End remote, central;
  std::unique_ptr<hostsim::Loop> loop;
  std::uint64_t periods = 0;
  std::function<void(std::vector<std::int16_t>&)> tamper;  ///< the next input of the ATU-R
  std::function<void(const std::int16_t*, std::size_t)> central_heard;

 private:
  void make(End* end, const oh_pump_type* type, oh_pump_role role, bool full_rate, std::uint64_t seed) {
    end->type = type;
    end->own = seed;
    oh_pump_config c{};
    c.struct_size = sizeof c;
    c.format = type->formats[full_rate ? 1 : 0];
    c.role = role;
    c.port = end->port();
    end->self = ::operator new (type->size(&c), std::align_val_t{64});
    memory_.push_back(end->self);
    if (type->init(end->self, &c) != 0) std::abort();
  }
  std::size_t ratio_ = 4;
  std::vector<void*> memory_;
  std::vector<std::int16_t> played_, captured_;
};

}  // namespace offhook::test
