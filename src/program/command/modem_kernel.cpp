// SPDX-License-Identifier: MIT
//
// A modem of the kernel driver: AT commands and terminal are a live session's, the driver is in the kernel.
#include <stdexcept>

#include "driver/kernel/kernel_line.h"
#include "driver/kernel/kernel_terminal.h"
#include "driver/session/session.h"
#include "src/program/command/kernel_call.h"
#include "src/program/command/modem_channel.h"

namespace offhook::command {
namespace {

class KernelChannel final : public Channel {
 public:
  KernelChannel(const ChannelConfig& config, int number)
      : Channel(config), modem_("/dev/offhook" + std::to_string(number)), line_(modem_, line_config(modem_)) {
    if (config.cpu || config.best_effort)
      throw std::runtime_error(config.address + ": --cpu and --best-effort apply to threads of this process only");
    if (config.device_delay_ms != 0)
      throw std::runtime_error(config.address + ": --device-delay applies to cards of this process only");
    if (config.failed_calls)
      throw std::runtime_error(config.address + ": --keep-failed applies to cards of this process only");
    modem_.set_context(config.context);
    auto terminal = std::make_unique<KernelTerminal>(modem_, number);
    if ((!config.tty.empty() && config.tty != terminal->device()) || !config.tty_group.empty())
      throw std::runtime_error(config.address + ": its terminal is " + terminal->device() +
                               ", whose group the system sets; expected neither --tty nor --tty-group");
    if (!config.out.empty()) writer_ = make_log(kKernelDriverId);
    begin(line_, std::move(terminal),
          modem::offer(kernel_modulations(), line_.config().format, line_.config().transmit_lead_samples));
  }
  std::string card_failure() const override {
    return line_.failed() ? config_.address + ": the card has failed or was removed" : "";
  }
  std::string news() override {
    std::string refusal = line_.take_refusal();
    return refusal.empty() ? Channel::news() : refusal;
  }
  void drain() override {
    events_.clear();
    try {
      modem_.take_log(events_);
      lost_ = modem_.status().log_lost;
    } catch (const std::runtime_error&) {  // the device is gone, see card_failure()
    }
    for (const oh_event& event : events_) analyzer_.add(event);
    if (config_.watched) watch_.add(events_, monotonic_ms());
    if (!writer_) return;
    writer_->append(0, events_, lost_);
    writer_->flush();
  }

 private:
  static KernelLineConfig line_config(const KernelModem& modem) {
    const modem::SessionConfig usual;
    const oh_streams card = modem.status().streams;
    return {usual.block_plan, usual.transmit_lead_samples, usual.policy,
            oh_pump_format{{card.rx.rate_hz, card.rx.encoding}, {card.tx.rate_hz, card.tx.encoding}}};
  }
  // All values come from the log, except the bytes that user space itself moved.
  ModemSummary summary() override {
    line_.end_call();
    drain();
    const Figures& f = analyzer_.finish();
    const PhaseFigures& total = f.total;
    ModemSummary s;
    s.context = config_.context.str();
    s.interrupts = total.interrupts;
    s.blocks_served = total.blocks;
    s.blocks_late = total.losses.blocks_late;
    s.samples_late = total.losses.samples_late;
    s.samples_filled_in = total.losses.samples_filled_in;
    s.pending_max = total.pending_max;
    s.overrun_samples = total.losses.overrun_samples;
    s.underrun_samples = total.losses.underrun_samples;
    s.dispatch = f.interrupt_to_service;
    s.service = f.service_run_elapsed;
    s.sent.bytes = line_.bytes_sent();
    s.received.bytes = line_.bytes_received();
    return s;
  }
  // Events replace the counters of a driver in this process.
  void watch_driver(std::int64_t) override {
    const Figures& figures = analyzer_.figures();
    const PhaseFigures& total = figures.total;
    live_page::LineView& v = watch_.view;
    v.dispatch = LineWatch::quantiles(figures.interrupt_to_service);
    v.service = LineWatch::quantiles(figures.service_run_elapsed);
    v.rate_hz = line_.config().format.rx.rate_hz;
    v.interrupts = total.interrupts;
    v.blocks_served = total.blocks;
    v.blocks_late = total.losses.blocks_late;
    v.samples_late = total.losses.samples_late;
    v.samples_filled_in = total.losses.samples_filled_in;
    v.pending = v.pending_peak;
    v.pending_max = total.pending_max;
    v.overrun_samples = total.losses.overrun_samples;
    v.underrun_samples = total.losses.underrun_samples;
    v.bytes_sent = line_.bytes_sent();
    v.bytes_received = line_.bytes_received();
    v.events_lost = lost_;
  }
  modem::LineMemory::Samples last_line() override { return {}; }  // the driver keeps no samples
  void close() override {
    if (writer_) writer_->close();
  }

  KernelModem modem_;
  KernelLine line_;
  std::vector<oh_event> events_;
  std::uint64_t lost_ = 0;
  Analyzer analyzer_;
  std::unique_ptr<traces::LogWriter> writer_;
};

}  // namespace

std::unique_ptr<Channel> open_kernel_channel(const ChannelConfig& config, int number) {
  return std::make_unique<KernelChannel>(config, number);
}

}  // namespace offhook::command
