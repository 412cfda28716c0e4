// SPDX-License-Identifier: MIT
//
// A modem of the kernel driver without a kernel: a clock that goes on by a look, a log of blocks served with a latency
// that is given, and octets that come once the link is up.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "driver/kernel/kernel_device.h"
#include "dsp/link/lapm.h"

namespace offhook {

class KernelStandIn final : public KernelDevice {
 public:
  static constexpr std::uint32_t kBlocksALook = 10;
  static constexpr std::uint64_t kSampleNs = 125'000;

  // What happens.
  std::vector<std::uint8_t> to_give;              ///< data that the far modem sends
  std::size_t octets_a_look = 1000;               ///< of them
  std::uint64_t connected_at = 4000;              ///< samples
  std::uint64_t cleared_at = ~std::uint64_t{};    ///< the far end hangs up
  std::uint64_t fails_at = ~std::uint64_t{};      ///< the card
  std::uint64_t latency_ns = 7'000;               ///< interrupt to service
  std::uint64_t slow_every = 0;                   ///< interval in blocks of a ten times longer latency; 0: none
  const char* refusal = nullptr;                  ///< what start() says
  std::uint64_t suspended_at = ~std::uint64_t{};  ///< suspension of the machine, which ends the call
  bool gone = false;
  bool direct = false;  ///< no error control
  oh_hold_state hold_state = OH_HOLD_NONE;
  std::uint32_t hold_timeout = 0;
  oh_kernel_order hold_order = OH_KERNEL_ORDER_NONE;

  // The requested settings.
  std::vector<ContextSpec> contexts;
  oh_kernel_call call{};
  bool running = false, hung_up = false;
  std::vector<oh_hold_order> orders;
  std::vector<std::uint8_t> taken;

  void set_context(const ContextSpec& context) override { contexts.push_back(context); }
  void start(oh_kernel_call wanted) override {
    if (gone) throw std::runtime_error("/dev/offhook0: the call cannot start: No such device");
    if (refusal != nullptr) throw std::runtime_error(refusal);
    call = wanted;
    running = true;
    samples_ = given_ = blocks_ = 0;
  }
  void stop() override { running = false; }
  void hang_up() override {
    hung_up = true;
    cleared_at = samples_;
  }
  void hold(oh_hold_order order) override {
    if (gone) throw std::runtime_error("/dev/offhook0: hold: No such device");
    orders.push_back(order);
  }
  oh_kernel_status status() const override {
    if (gone) throw std::runtime_error("/dev/offhook0: status: No such device");
    oh_kernel_status s{};
    if (!running || samples_ >= suspended_at) return s;
    const bool up = samples_ >= connected_at, cleared = samples_ >= cleared_at;
    s.card = samples_ >= fails_at ? OH_KERNEL_CARD_FAILED : OH_KERNEL_IN_CALL;
    s.pump = cleared ? OH_PUMP_IDLE : up ? OH_PUMP_DATA : OH_PUMP_TRAINING;
    s.direct = direct ? 1 : 0;
    s.link = direct ? OH_LAPM_DETECTION : cleared ? OH_LAPM_DISCONNECTED : up ? OH_LAPM_CONNECTED : OH_LAPM_DETECTION;
    s.tx_bit_rate = s.rx_bit_rate = up ? 33'600 : 0;
    s.samples = samples_;
    s.interrupts = blocks_;
    s.hold = hold_state;
    s.hold_timeout = hold_timeout;
    s.hold_order = hold_order;
    return s;
  }
  std::size_t write(const std::uint8_t* octets, std::size_t n) override {
    taken.insert(taken.end(), octets, octets + n);
    return n;
  }
  std::size_t read(std::uint8_t* octets, std::size_t n) override {
    const std::size_t now = std::min({n, due_, to_give.size() - given_});
    std::copy_n(to_give.begin() + static_cast<std::ptrdiff_t>(given_), now, octets);
    given_ += now;
    due_ -= now;
    return now;
  }
  void wait(int) const override { const_cast<KernelStandIn*>(this)->go_on(); }
  void take_log(std::vector<oh_event>& events) override {
    for (const oh_event& event : std::exchange(log_, {})) events.push_back(event);
  }

 private:
  void go_on() {
    if (!running || samples_ >= fails_at) return;
    for (std::uint32_t k = 0; k < kBlocksALook; ++k) {
      const std::uint32_t block = call.block_plan[0];
      samples_ += block;
      ++blocks_;
      const std::uint64_t raised = samples_ * kSampleNs;
      const bool slow = slow_every > 0 && blocks_ % slow_every == 0;
      const std::uint64_t begun = raised + (slow ? 10 : 1) * latency_ns;
      record(raised, OH_EV_INTERRUPT, block);
      record(raised, OH_EV_ISR_ENTER, static_cast<std::uint32_t>(blocks_));
      record(raised + 1'000, OH_EV_ISR_EXIT, 0);
      record(begun, OH_EV_SERVICE_RUN_BEGIN, 0);
      record(begun, OH_EV_SERVICE_BEGIN, block);
      record(begun + 2'000, OH_EV_OUTPUT_READY, 0);
      record(begun + 3'000, OH_EV_SERVICE_END, 0);
      record(begun + 3'000, OH_EV_SERVICE_RUN_END, 1);
      if (samples_ >= connected_at && samples_ - block < connected_at)
        record(begun + 3'000, OH_EV_LINK_STATE, OH_LAPM_CONNECTED);
    }
    if (samples_ < connected_at || samples_ >= cleared_at) return;
    due_ = std::min(octets_a_look, to_give.size() - given_);
    if (due_ > 0) record(samples_ * kSampleNs, OH_EV_LINK_BYTES, static_cast<std::uint32_t>(given_ + due_));
  }
  void record(std::uint64_t time_ns, oh_event_kind kind, std::uint32_t argument) {
    oh_event event{};
    event.time_ns = time_ns;
    event.kind = static_cast<decltype(event.kind)>(kind);
    event.id = 1;
    event.argument = argument;
    log_.push_back(event);
  }

  std::uint64_t samples_ = 0, blocks_ = 0;
  std::size_t given_ = 0, due_ = 0;
  std::vector<oh_event> log_;
};

}  // namespace offhook
