// SPDX-License-Identifier: MIT
#include "driver/live/alsa_card.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <stdexcept>

namespace offhook {

namespace {

constexpr std::uint32_t kBufferPeriods = 8;  // maximum queue at the device while the thread is delayed
constexpr int kRetries = 3;                  // of a configuration
constexpr int kPollMs = 100;                 // delay until stop() is noticed
// ALSA prints to standard error by itself; our own message has the relevant part.
void ignore(const char*, int, const char*, int, const char*, ...) {}
void quiet() {
  snd_lib_error_set_handler(ignore);
}

struct HardwareParameters {
  HardwareParameters() { snd_pcm_hw_params_malloc(&p); }
  ~HardwareParameters() { snd_pcm_hw_params_free(p); }
  HardwareParameters(const HardwareParameters&) = delete;
  HardwareParameters& operator=(const HardwareParameters&) = delete;
  snd_pcm_hw_params_t* p = nullptr;
};

const char* direction(snd_pcm_t* pcm) {
  return snd_pcm_stream(pcm) == SND_PCM_STREAM_CAPTURE ? "capture" : "play";
}

/// The rates of one direction: of the sound device and of the card.
struct DirectionRates {
  std::uint32_t device_hz = 0, card_hz = 0;
};

/// Format and channel into `hw`. @return empty, or the missing feature and the available ones
std::string narrow_format(snd_pcm_t* pcm, snd_pcm_hw_params_t* hw) {
  if (snd_pcm_hw_params_any(pcm, hw) < 0) return "it has no configuration";
  snd_pcm_hw_params_set_rate_resample(pcm, hw, 0);
  if (snd_pcm_hw_params_set_access(pcm, hw, SND_PCM_ACCESS_MMAP_INTERLEAVED) < 0) return "by mapped memory";
  if (snd_pcm_hw_params_set_format(pcm, hw, SND_PCM_FORMAT_S16) < 0) return "16-bit samples";
  unsigned least = 0, most = 0;
  snd_pcm_hw_params_get_channels_min(hw, &least);
  snd_pcm_hw_params_get_channels_max(hw, &most);
  if (snd_pcm_hw_params_set_channels(pcm, hw, 1) < 0)
    return "one channel, only " + std::to_string(least) + " to " + std::to_string(most);
  return "";
}

/// Format, channel and rate into `hw`: the first rate of the card for which the device has a multiple, the lowest one.
/// @param[out] found  the rates  @return empty, or the missing feature and the available ones
std::string narrow(snd_pcm_t* pcm, snd_pcm_hw_params_t* hw, std::initializer_list<std::uint32_t> card_hz,
                   DirectionRates& found) {
  const std::string cannot = std::string("cannot ") + direction(pcm) + " ";
  if (const std::string why = narrow_format(pcm, hw); !why.empty()) return cannot + why;
  for (const std::uint32_t wanted : card_hz) {
    for (const std::uint32_t ratio : kRateRatios) {
      if (snd_pcm_hw_params_test_rate(pcm, hw, wanted * ratio, 0) < 0) continue;
      found = {wanted * ratio, wanted};
      snd_pcm_hw_params_set_rate(pcm, hw, found.device_hz, 0);
      return "";
    }
  }
  unsigned least = 0, most = 0;
  snd_pcm_hw_params_get_rate_min(hw, &least, nullptr);
  snd_pcm_hw_params_get_rate_max(hw, &most, nullptr);
  return cannot + suitable_rates(*(card_hz.end() - 1)) + ", only " + std::to_string(least) + " to " +
         std::to_string(most) + " Hz";
}

std::string narrow(snd_pcm_t* pcm, snd_pcm_hw_params_t* hw, const CardRates& rates, DirectionRates& found) {
  return snd_pcm_stream(pcm) == SND_PCM_STREAM_CAPTURE ? narrow(pcm, hw, {rates.rx_hz, rates.least_rx_hz}, found)
                                                       : narrow(pcm, hw, {rates.tx_hz}, found);
}

void set_thresholds(snd_pcm_t* pcm, snd_pcm_uframes_t period, snd_pcm_uframes_t buffer, int& error) {
  snd_pcm_sw_params_t* sw = nullptr;
  snd_pcm_sw_params_malloc(&sw);
  snd_pcm_uframes_t boundary = 0;
  snd_pcm_sw_params_current(pcm, sw);
  snd_pcm_sw_params_get_boundary(sw, &boundary);
  snd_pcm_sw_params_set_start_threshold(pcm, sw, boundary);  // started by hand
  snd_pcm_sw_params_set_stop_threshold(pcm, sw, buffer);     // ran over or dry
  snd_pcm_sw_params_set_avail_min(pcm, sw, period);
  error = snd_pcm_sw_params(pcm, sw);
  snd_pcm_sw_params_free(sw);
}

}  // namespace

AlsaCard::AlsaCard(const std::string& device, const SoundConfig& config) : device_(device) {
  quiet();
  const auto open_one = [&](snd_pcm_t*& pcm, snd_pcm_stream_t stream) {
    if (const int error = snd_pcm_open(&pcm, device.c_str(), stream, SND_PCM_NONBLOCK); error < 0) {
      pcm = nullptr;
      refuse(std::string(stream == SND_PCM_STREAM_CAPTURE ? "cannot be opened for capture: "
                                                          : "cannot be opened for playback: ") +
             snd_strerror(error) + "; see `offhook devices`");
    }
  };
  open_one(capture_, SND_PCM_STREAM_CAPTURE);
  open_one(playback_, SND_PCM_STREAM_PLAYBACK);
  configure(config);
}

void AlsaCard::refuse(const std::string& why) {
  close();
  throw std::runtime_error("alsa:" + device_ + ": " + why);
}

void AlsaCard::configure(const SoundConfig& config) {
  const std::uint32_t slower_hz = config.rates.period_hz();
  SoundConfig given = config;  // from the first direction on the device's own period
  DirectionRates captured, played;
  const std::uint32_t most = sound_streams(config, config.rates.least_rx_hz).tx.ring_samples / 2;
  snd_pcm_uframes_t size = 0, buffer = 0;  // of the direction, frames
  const auto hardware = [&](snd_pcm_t* pcm, DirectionRates& rates) {
    HardwareParameters hw;
    if (const std::string why = narrow(pcm, hw.p, config.rates, rates); !why.empty()) refuse(why);
    const std::uint32_t frames = rates.device_hz / slower_hz;  // in a sample period
    size = snd_pcm_uframes_t{frames} * given.period_samples;
    snd_pcm_hw_params_set_period_size_near(pcm, hw.p, &size, nullptr);
    const snd_pcm_uframes_t period = size / frames;
    if (period < 1 || size % frames != 0 || period > most || (pcm == playback_ && period != given.period_samples))
      refuse(std::string("cannot ") + direction(pcm) + " in periods of " +
             std::to_string(frames * given.period_samples) + " frames; the nearest is " + std::to_string(size) +
             ", and both directions must match, at most " + std::to_string(frames * most));
    given.period_samples = static_cast<std::uint32_t>(period);
    buffer = kBufferPeriods * size;
    snd_pcm_hw_params_set_buffer_size_near(pcm, hw.p, &buffer);
    if (buffer < (kQueuedPeriods + 1) * size) refuse("has room for " + std::to_string(buffer) + " frames only");
    return snd_pcm_hw_params(pcm, hw.p);
  };
  for (snd_pcm_t* pcm : {capture_, playback_}) {
    DirectionRates& rates = pcm == capture_ ? captured : played;
    int error = hardware(pcm, rates);
    // Meanwhile the program at the other end of a loopback card may have set the rate of both ends.
    for (int k = 0; k < kRetries && error < 0; ++k) error = hardware(pcm, rates);
    if (error < 0) refuse(std::string("refused its configuration: ") + snd_strerror(error));
    set_thresholds(pcm, size, buffer, error);
    if (error < 0) refuse(std::string("refused its thresholds: ") + snd_strerror(error));
  }
  snd_pcm_link(capture_, playback_);  // one start for both, if the device can
  const oh_streams streams = sound_streams(given, captured.card_hz);
  rates_ = SoundRates(streams, captured.device_hz, played.device_hz);
  frames_.resize(kPiece * std::max(rates_.captured_frames(), rates_.played_frames()));
  watch_ = ClockWatch(slower_hz, given.period_samples);
  build(streams);
}

AlsaCard::~AlsaCard() {
  close();
}

void AlsaCard::close() {
  for (snd_pcm_t** pcm : {&capture_, &playback_}) {
    if (*pcm != nullptr) snd_pcm_close(*pcm);
    *pcm = nullptr;
  }
}

void AlsaCard::start() {
  oh_card_engine_start(&engine_, static_cast<std::uint64_t>(monotonic_ns()));
  const bool started = restart();
  watch_.restart(engine_.position, monotonic_ns());
  if (started) return;
  throw std::runtime_error("alsa:" + device_ + ": does not start: " + snd_strerror(error_));
}

bool AlsaCard::restart() {
  error_ = 0;
  for (snd_pcm_t* pcm : {capture_, playback_}) {
    snd_pcm_drop(pcm);
    if (const int error = snd_pcm_prepare(pcm); error < 0) error_ = error;
  }
  for (snd_pcm_uframes_t left = snd_pcm_uframes_t{kQueuedPeriods} * period() * rates_.played_frames();
       left > 0 && error_ == 0;) {
    const snd_pcm_channel_area_t* areas = nullptr;
    snd_pcm_uframes_t offset = 0, n = left;
    snd_pcm_sframes_t done = snd_pcm_avail_update(playback_);
    if (done >= 0) done = snd_pcm_mmap_begin(playback_, &areas, &offset, &n);
    if (done >= 0 && n > 0) {
      snd_pcm_areas_silence(areas, offset, 1, n, SND_PCM_FORMAT_S16);
      done = snd_pcm_mmap_commit(playback_, offset, n);
    }
    if (done <= 0) {
      error_ = done < 0 ? static_cast<int>(done) : -EPIPE;
      break;
    }
    left -= static_cast<snd_pcm_uframes_t>(done);
  }
  for (snd_pcm_t* pcm : {playback_, capture_}) {
    if (error_ != 0 || snd_pcm_state(pcm) == SND_PCM_STATE_RUNNING) continue;  // linked
    if (const int error = snd_pcm_start(pcm); error < 0) error_ = error;
  }
  return error_ == 0;
}

LiveCard::Wait AlsaCard::gone(const std::string& why) {
  failure_ = "alsa:" + device_ + ": " + why;
  return Wait::kGone;
}

// `copy(samples, done, piece, step)` for each piece of `count` frames of the device. @return how many it moved
template <class Copy>
std::size_t AlsaCard::move(snd_pcm_t* pcm, std::size_t count, Copy copy) {
  for (std::size_t done = 0; done < count && error_ == 0;) {
    const snd_pcm_channel_area_t* areas = nullptr;
    snd_pcm_uframes_t offset = 0, piece = count - done;
    if (const snd_pcm_sframes_t room = snd_pcm_avail_update(pcm); room < 0) {
      error_ = static_cast<int>(room);
      return done;
    }
    if (const int error = snd_pcm_mmap_begin(pcm, &areas, &offset, &piece); error < 0 || piece == 0) {
      error_ = error < 0 ? error : -EPIPE;  // nothing to have, or no room: the two directions have drifted apart
      return done;
    }
    auto* samples = static_cast<std::int16_t*>(areas->addr) + areas->first / 16 +
                    offset * static_cast<std::size_t>(areas->step / 16);
    copy(samples, done, piece, areas->step / 16);
    const snd_pcm_sframes_t committed = snd_pcm_mmap_commit(pcm, offset, piece);
    if (committed <= 0) {
      error_ = committed < 0 ? static_cast<int>(committed) : -EPIPE;
      return done;
    }
    done += static_cast<std::size_t>(committed);
  }
  return count;
}

void AlsaCard::exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
  const oh_streams& streams = card_.streams;
  const std::uint32_t slower_hz = oh_streams_rate_hz(&streams);
  for (std::size_t k = 0; n > 0; n -= k) {
    k = std::min(n, kPiece);
    const std::size_t frames = k * rates_.captured_frames();
    const std::size_t got =
        move(capture_, frames, [&](const std::int16_t* from, std::size_t at, std::size_t m, unsigned step) {
          for (std::size_t i = 0; i < m; ++i) frames_[at + i] = from[i * step];
        });
    std::fill(frames_.begin() + static_cast<std::ptrdiff_t>(got), frames_.end(), std::int16_t{0});
    rates_.captured(frames_.data(), captured, k);
    rates_.played(played, frames_.data(), k);
    move(playback_, k * rates_.played_frames(), [&](std::int16_t* to, std::size_t at, std::size_t m, unsigned step) {
      for (std::size_t i = 0; i < m; ++i) to[i * step] = frames_[at + i];
    });
    captured += k * (streams.rx.rate_hz / slower_hz);
    played += k * (streams.tx.rate_hz / slower_hz);
  }
}

std::optional<LiveCard::Wait> AlsaCard::recover(int error) {
  if (error == -EAGAIN || error == -EINTR) return std::nullopt;  // nothing is wrong
  if (error != -EPIPE && error != -ESTRPIPE) return gone(std::string("the device is gone: ") + snd_strerror(error));
  std::int64_t now = monotonic_ns();
  if (const std::string why = watch_.verdict(now); !why.empty()) return gone(why);
  if (!restart()) return gone(std::string("the device is gone: ") + snd_strerror(error_));
  ++xruns_;
  // The samples that passed meanwhile: the position expected by the clock, minus the current one.
  now = monotonic_ns();
  const std::uint64_t expected = std::max(watch_.expected(now), engine_.position);
  const bool ended = oh_card_engine_skip(&engine_, expected - engine_.position, static_cast<std::uint64_t>(now)) != 0;
  watch_.resume(expected, now);
  return ended ? std::optional(Wait::kInterrupt) : std::nullopt;
}

LiveCard::Wait AlsaCard::wait() {
  while (!stopped_.load(std::memory_order_relaxed)) {
    const snd_pcm_sframes_t frames = snd_pcm_avail(capture_);
    if (frames < 0) {
      if (const auto outcome = recover(static_cast<int>(frames))) return *outcome;
      continue;
    }
    const auto available = frames / static_cast<snd_pcm_sframes_t>(rates_.captured_frames());
    const std::int64_t now = monotonic_ns();
    watch_.seen(engine_.position + static_cast<std::uint64_t>(available), now);
    if (const std::string why = watch_.verdict(now); !why.empty()) return gone(why);
    const std::uint32_t left = oh_card_engine_left(&engine_);
    if (available >= static_cast<snd_pcm_sframes_t>(std::min(left, period()))) {
      const bool ended = oh_card_engine_run(&engine_, &line_, std::min(static_cast<std::uint32_t>(available), left),
                                            static_cast<std::uint64_t>(now)) > 0;
      if (error_ != 0) {
        if (const auto outcome = recover(error_)) return *outcome;
      }
      if (ended) return Wait::kInterrupt;
      continue;
    }
    if (const int ready = snd_pcm_wait(capture_, kPollMs); ready < 0) {
      if (const auto outcome = recover(ready)) return *outcome;
    }
  }
  return Wait::kStopped;
}

namespace {

CardDevice describe(const std::string& name, const std::string& description) {
  CardDevice device{"ALSA", "alsa:" + name, description, "", true};
  DirectionRates captured, played;
  for (const snd_pcm_stream_t stream : {SND_PCM_STREAM_CAPTURE, SND_PCM_STREAM_PLAYBACK}) {
    snd_pcm_t* pcm = nullptr;
    std::string why;
    if (const int error = snd_pcm_open(&pcm, name.c_str(), stream, SND_PCM_NONBLOCK); error < 0) {
      why = std::string("cannot ") + (stream == SND_PCM_STREAM_CAPTURE ? "capture: " : "play: ") + snd_strerror(error);
    } else {
      HardwareParameters hw;
      why = narrow(pcm, hw.p, kModemRates, stream == SND_PCM_STREAM_CAPTURE ? captured : played);
      snd_pcm_close(pcm);
    }
    if (why.empty()) continue;
    device.usable = false;
    device.capability += (device.capability.empty() ? "" : "; ") + why;
  }
  if (device.usable) device.capability = sound_capability(captured.device_hz, played.device_hz, captured.card_hz);
  return device;
}

std::vector<CardDevice> devices() {
  quiet();
  std::vector<CardDevice> all;
  void** hints = nullptr;
  if (snd_device_name_hint(-1, "pcm", &hints) < 0) return all;
  for (void** hint = hints; *hint != nullptr; ++hint) {
    const auto text = [hint](const char* key) {
      char* s = snd_device_name_get_hint(*hint, key);
      std::string copy = s != nullptr ? s : "";
      std::free(s);
      std::replace(copy.begin(), copy.end(), '\n', ',');
      return copy;
    };
    all.push_back(describe(text("NAME"), text("DESC")));
  }
  snd_device_name_free_hint(hints);
  return all;
}

}  // namespace

const CardKind kAlsaCards = {"alsa", "alsa:NAME", true,
                             [](const std::string& place, const CardRates& rates) -> std::unique_ptr<LiveCard> {
                               return std::make_unique<AlsaCard>(place, SoundConfig{.rates = rates});
                             },
                             devices};

}  // namespace offhook
