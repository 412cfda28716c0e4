// SPDX-License-Identifier: MIT
#include "driver/live/portaudio_card.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <thread>

namespace offhook {

namespace {

constexpr std::int64_t kPollNs = 100'000'000;  // time after which the loss of a device is noticed

/// Discards standard error while it lives, because libjack, which PortAudio calls, prints if no server runs.
class Quiet {
 public:
  Quiet() : saved_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (saved_ >= 0 && null >= 0) dup2(null, STDERR_FILENO);
    if (null >= 0) close(null);
  }
  ~Quiet() {
    if (saved_ < 0) return;
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  int saved_;
};

/// PortAudio may be started and stopped several times. It runs from the first start to the last stop.
struct Library {
  Library() {
    const Quiet quiet;
    if (const PaError error = Pa_Initialize(); error != paNoError)
      throw std::runtime_error(std::string("PortAudio does not start: ") + Pa_GetErrorText(error));
  }
  ~Library() { Pa_Terminate(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

/// By number, or by the beginning of its name. @return paNoDevice when there is none
PaDeviceIndex find(const std::string& device) {
  int number = -1;
  const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), number);
  if (error == std::errc() && end == device.data() + device.size())
    return number >= 0 && number < Pa_GetDeviceCount() ? number : paNoDevice;
  for (PaDeviceIndex i = 0; i < Pa_GetDeviceCount(); ++i) {
    if (std::string(Pa_GetDeviceInfo(i)->name).starts_with(device)) return i;
  }
  return paNoDevice;
}

struct Parameters {
  explicit Parameters(PaDeviceIndex device) {
    const PaDeviceInfo* info = Pa_GetDeviceInfo(device);
    in = {device, 1, paInt16, info->defaultLowInputLatency, nullptr};
    out = {device, 1, paInt16, info->defaultLowOutputLatency, nullptr};
  }
  PaStreamParameters in, out;
};

/// A device has one rate both ways: a multiple of the card's.
struct StreamRates {
  std::uint32_t device_hz = 0, rx_hz = 0;
};

/// @param[out] found  @return empty, or the missing feature of the device
std::string cannot(PaDeviceIndex device, const CardRates& rates, StreamRates& found) {
  const PaDeviceInfo* info = Pa_GetDeviceInfo(device);
  if (info->maxInputChannels < 1) return "cannot capture";
  if (info->maxOutputChannels < 1) return "cannot play";
  const Parameters p(device);
  PaError error = paInvalidSampleRate;
  for (const std::uint32_t rx_hz : {rates.rx_hz, rates.least_rx_hz}) {
    for (const std::uint32_t ratio : kRateRatios) {
      const std::uint32_t device_hz = std::max(rx_hz, rates.tx_hz) * ratio;
      error = Pa_IsFormatSupported(&p.in, &p.out, device_hz);
      found = {device_hz, rx_hz};
      if (error == paFormatIsSupported) return "";
    }
  }
  return "cannot do one channel of 16 bits both ways at " + suitable_rates(rates.tx_hz) + ": " +
         std::string(Pa_GetErrorText(error));
}

}  // namespace

PortAudioCard::PortAudioCard(const std::string& device, const SoundConfig& config)
    : name_("portaudio:" + device),
      watch_(config.rates.period_hz(), 4 * config.period_samples),
      pace_(config.rates.period_hz(), 4 * config.period_samples) {
  Library library;  // until the stream is open
  const PaDeviceIndex index = find(device);
  if (index == paNoDevice) throw std::runtime_error(name_ + ": no such device; see `offhook devices`");
  StreamRates rates;
  if (const std::string why = cannot(index, config.rates, rates); !why.empty())
    throw std::runtime_error(name_ + ": " + why);
  const oh_streams streams = sound_streams(config, rates.rx_hz);
  rates_ = SoundRates(streams, rates.device_hz, rates.device_hz);
  build(streams);
  const Parameters p(index);
  const auto on_samples = [](const void* in, void* out, unsigned long n, const PaStreamCallbackTimeInfo*,
                             PaStreamCallbackFlags flags, void* self) -> int {
    auto* gate = static_cast<Gate*>(self);
    // Sequentially consistent: either the closing thread sees this one inside, or this one sees the gate closed.
    gate->inside.fetch_add(1);
    const bool closed = gate->closed.load();
    if (!closed) {
      gate->card->callback(static_cast<const std::int16_t*>(in), static_cast<std::int16_t*>(out), n,
                           (flags & (paInputOverflow | paOutputUnderflow)) != 0);
    }
    gate->inside.fetch_sub(1);
    return closed ? paAbort : paContinue;
  };
  if (const PaError error = Pa_OpenStream(&stream_, &p.in, &p.out, rates.device_hz,
                                          static_cast<unsigned long>(period()) * rates_.captured_frames(),
                                          paClipOff | paDitherOff, on_samples, gate_.get());
      error != paNoError)
    throw std::runtime_error(name_ + ": " + Pa_GetErrorText(error));
  const PaStreamInfo* info = Pa_GetStreamInfo(stream_);
  if (static_cast<std::uint32_t>(info->sampleRate + 0.5) != rates.device_hz) {
    const double rate = info->sampleRate;
    Pa_CloseStream(stream_);
    throw std::runtime_error(name_ + ": gives " + std::to_string(rate) + " Hz, not " + std::to_string(rates.device_hz));
  }
  queued_ = static_cast<std::uint32_t>((info->inputLatency + info->outputLatency) * oh_streams_rate_hz(&streams)) +
            rates_.delay();
  sem_init(&interrupt_, 0, 0);
  Pa_Initialize();  // owned by the card until its end
}

PortAudioCard::~PortAudioCard() {
  gate_->closed.store(true);
  while (gate_->inside.load() != 0) std::this_thread::yield();
  // PortAudio's thread never stops retrying a lost device, and stopping the stream would wait for it.
  if (failure_.empty()) {
    Pa_AbortStream(stream_);
    Pa_CloseStream(stream_);
    Pa_Terminate();
  } else {
    static_cast<void>(gate_.release());
  }
  sem_destroy(&interrupt_);
}

void PortAudioCard::start() {
  const std::int64_t now = monotonic_ns();
  oh_card_engine_start(&engine_, static_cast<std::uint64_t>(now));
  watch_.restart(engine_.position, now);
  pace_.restart(engine_.position, now);
  if (const PaError error = Pa_StartStream(stream_); error != paNoError)
    throw std::runtime_error(name_ + ": does not start: " + Pa_GetErrorText(error));
}

void PortAudioCard::exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
  if (in_ != nullptr) {
    rates_.captured(in_, captured, n);
    in_ += n * rates_.captured_frames();
  } else {
    std::fill_n(captured, n * (card_.streams.rx.rate_hz / oh_streams_rate_hz(&card_.streams)), std::int16_t{0});
  }
  if (out_ == nullptr) return;
  rates_.played(played, out_, n);
  out_ += n * rates_.played_frames();
}

void PortAudioCard::callback(const std::int16_t* in, std::int16_t* out, std::size_t n, bool lost) {
  in_ = in;
  out_ = out;
  n /= rates_.captured_frames();
  const std::int64_t now = monotonic_ns();
  const auto now_ns = static_cast<std::uint64_t>(now);
  if (lost) {
    xruns_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t here = engine_.position + n;
    oh_card_engine_skip(&engine_, std::max(pace_.expected(now), here) - here, now_ns);
  }
  // A callback delivers a period, so it ends a block, even if lost samples already ended one.
  const bool ended = oh_card_engine_run(&engine_, &line_, static_cast<std::uint32_t>(n), now_ns) > 0;
  pace_.seen(engine_.position, now);
  if (ended) sem_post(&interrupt_);
}

LiveCard::Wait PortAudioCard::wait() {
  for (;;) {
    // PortAudio's thread may have a lower priority than this one, so wait for it and never poll.
    const std::int64_t end = monotonic_ns() + kPollNs;
    const timespec until{end / 1'000'000'000, end % 1'000'000'000};
    const bool raised = sem_clockwait(&interrupt_, CLOCK_MONOTONIC, &until) == 0;
    if (stopped_.load(std::memory_order_relaxed)) return Wait::kStopped;
    const std::int64_t now = monotonic_ns();
    watch_.seen(oh_card_position(&state()), now);
    std::string why = watch_.verdict(now);
    if (!raised && why.empty() && Pa_IsStreamActive(stream_) != 1) why = "the device is gone: its stream ended";
    if (!why.empty()) {
      failure_ = name_ + ": " + why;
      return Wait::kGone;
    }
    if (raised) return Wait::kInterrupt;
  }
}

void PortAudioCard::stop() {
  stopped_.store(true, std::memory_order_relaxed);
  sem_post(&interrupt_);
}

namespace {

std::vector<CardDevice> devices() {
  std::vector<CardDevice> all;
  const Library library;
  for (PaDeviceIndex i = 0; i < Pa_GetDeviceCount(); ++i) {
    const PaDeviceInfo* info = Pa_GetDeviceInfo(i);
    StreamRates rates;
    const std::string why = cannot(i, kModemRates, rates);
    all.push_back({"PortAudio", "portaudio:" + std::string(info->name),
                   "Number " + std::to_string(i) + ", " + Pa_GetHostApiInfo(info->hostApi)->name,
                   why.empty() ? sound_capability(rates.device_hz, rates.device_hz, rates.rx_hz) : why, why.empty()});
  }
  return all;
}

}  // namespace

const CardKind kPortAudioCards = {"portaudio", "portaudio:NAME", true,
                                  [](const std::string& place, const CardRates& rates) -> std::unique_ptr<LiveCard> {
                                    return std::make_unique<PortAudioCard>(place, SoundConfig{.rates = rates});
                                  },
                                  devices};

}  // namespace offhook
