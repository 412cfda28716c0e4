// SPDX-License-Identifier: MIT
#include "dsp/radio/radio.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include "dsp/blocks/level.h"
#include "dsp/pump/pump_type.h"
#include "dsp/radio/low_if.h"
#include "dsp/radio/ofdm.h"
#include "dsp/radio/single_carrier.h"

namespace offhook::radio {
namespace {

constexpr unsigned kCardSamples = 2;  // for one complex sample
constexpr float kLeastLevel = -48, kMostLevel = -12;
constexpr float kMarginDb = 1;           // required above a rate's least SNR before that rate is requested
constexpr float kSnrWeight = 1.0f / 16;  // weight of a burst in the mean
constexpr float kDeviationWeight = 1.0f / 256;
constexpr float kDeviations = 4;              // mean ones that the SNR may fall below its mean: an air that fades
constexpr unsigned kHearsFor = 16;            // missed bursts of the far end before this is reported to it
constexpr unsigned kFarewells = 8;            // number of bursts that announce the sender's hang-up
constexpr unsigned kGuardSamples = 40;        // before a burst, after the beginning of its slot
constexpr unsigned kWindowSamples = 60;       // the far end's burst may begin earlier or later by this
constexpr unsigned kLostMs = 800;             // in data mode, time without a burst until the link is lost
constexpr std::uint32_t kLongestStep = 6144;  // measured by tests/bench/radio_liquid_bench.cpp
constexpr unsigned kGiveUpMs = 5'000;         // without data

/// Counters that are read without knowing the waveform. They come first in every Radio.
struct Counted {
  oh_radio_slots counts_{};
  std::uint16_t address_ = 0;
};

/// One end. Counts complex samples, kSlot per slot, unless stated otherwise.
template <class Waveform>
class Radio : public Counted {
 public:
  static constexpr unsigned kSlot = Waveform::kSlotSamples;
  static constexpr auto kFormats = [] {
    std::array<oh_pump_format, Waveform::kSampleRatesHz.size()> formats{};
    for (std::size_t k = 0; k < formats.size(); ++k) {
      const oh_sample_format card = {kCardSamples * Waveform::kSampleRatesHz[k], OH_LINEAR16};
      formats[k] = {card, card};
    }
    return formats;
  }();
  std::uint64_t ms(unsigned t) const { return std::uint64_t{t} * (rate_hz_ / 1000); }

  explicit Radio(const oh_pump_config& config)
      : config_(config),
        observer_(observer_of(config)),
        rate_hz_(config.format.rx.rate_hz / kCardSamples),
        ahead_(config.io_delay_samples / kCardSamples),
        level_(static_cast<float>(dbm0_to_rms(config.tx_level_dbm0))),
        most_rate_(static_cast<std::uint8_t>(highest_rate(sender_.packets(), config.max_bit_rate, rate_hz_))),
        payload_(sender_.packets().most_octets()) {}

  static std::uint32_t bit_rate(const Packets& packets, unsigned rate, unsigned rate_hz) {
    return static_cast<std::uint32_t>(8ull * packets.octets(rate) * rate_hz / (2 * kSlot));
  }
  /// @return kRates.size() if even the lowest rate needs more
  static unsigned highest_rate(const Packets& packets, std::uint32_t most, unsigned rate_hz) {
    if (most == 0) return kRates.size() - 1;
    unsigned rate = kRates.size();
    for (unsigned k = 0; k < kRates.size(); ++k) {
      if (bit_rate(packets, k, rate_hz) <= most) rate = k;
    }
    return rate;
  }

  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) tx[i] = step(rx[i]);
  }
  void report_gap(std::size_t n) {
    filled_in_ += n;
    for (std::size_t i = 0; i < n; ++i) step(0);
  }

  void status(oh_pump_status* s) const {
    *s = oh_pump_status{};
    s->state = state_;
    if (state_ == OH_PUMP_DATA) {
      s->tx_bit_rate = bit_rate(packets(), tx_rate(), rate_hz_);
      s->rx_bit_rate = bit_rate(packets(), rx_rate_, rate_hz_);
    }
    s->rx_level_dbm0 = rx_level_dbm0_;
    s->samples = samples_;
    s->filled_in = filled_in_;
    s->retrains = retrains_;
    s->bits_sent = bits_sent_;
    s->bits_received = bits_received_;
  }

  void hang_up() {
    if (state_ == OH_PUMP_FAILED || state_ == OH_PUMP_IDLE) return;
    if (in_time_ && hears()) {
      farewells_ = kFarewells + 1;  // the last turn sends nothing: the burst before it was sent
    } else {
      state_ = OH_PUMP_IDLE;
    }
  }

 private:
  const Packets& packets() const { return sender_.packets(); }
  bool calls() const { return config_.role == OH_PUMP_CALL; }
  bool hears() const { return unheard_ < kHearsFor; }
  std::uint8_t tx_rate() const { return std::min(most_rate_, far_best_rate_); }
  bool over() const { return state_ == OH_PUMP_IDLE || state_ == OH_PUMP_FAILED; }

  std::int16_t step(std::int16_t rx) {
    if (samples_++ % kCardSamples == 0) {
      first_ = rx;
      const std::array<float, 2> out = low_if_sender_.step(over() ? Complex{} : transmit(now_ + ahead_));
      second_out_ = clip(std::round(out[1] * level_));
      return clip(std::round(out[0] * level_));
    }
    if (!over()) receive(rx);
    ++now_;
    return second_out_;
  }

  /// The sample that is sent at `at`, on the clock of the received samples.
  Complex transmit(std::uint64_t at) {
    if (burst_ != nullptr) {
      const Complex x = burst_[burst_at_];
      if (++burst_at_ == sender_.samples()) burst_ = nullptr;
      return x;
    }
    if (!in_time_) return {};
    const std::int64_t into = static_cast<std::int64_t>(at) - origin_ - kGuardSamples;
    const std::int64_t slot = into / kSlot;
    // The origin moves with the far end's clock, so the sample at which a slot begins may be skipped or occur twice.
    if (into < 0 || into % kSlot > kWindowSamples || (slot % 2 == 0) != calls() || slot == last_slot_) return {};
    last_slot_ = slot;
    begin_burst(static_cast<std::uint16_t>(slot));
    return {};
  }

  void begin_burst(std::uint16_t slot) {
    if (farewells_ > 0 && --farewells_ == 0) {
      state_ = OH_PUMP_IDLE;
      return;
    }
    BurstHeader h;
    h.slot = slot;
    h.from_caller = calls();
    h.rate = tx_rate();
    h.best_rate = best_rate_;
    h.hears = hears();
    h.data = state_ == OH_PUMP_DATA && farewells_ == 0;
    h.ends = farewells_ > 0;
    h.address = address_;
    const unsigned octets = packets().octets(h.rate);
    if (h.data) {
      oh_port_get(&config_.port, payload_.data(), 8 * octets);
      bits_sent_ += 8 * octets;
    } else {
      std::fill_n(payload_.begin(), octets, std::uint8_t{0xff});
    }
    burst_ = sender_.burst(h, payload_.data());
    burst_at_ = 0;
    ++counts_.sent;
  }

  /// Distance of a sample from the expected beginning of the far end's burst, if it is in a slot of the far end.
  struct Place {
    bool theirs;
    unsigned into;  // the beginning of the slot, kWindowSamples before the burst
  };
  Place place() const {
    const std::int64_t into = static_cast<std::int64_t>(now_) - origin_ + kWindowSamples - kGuardSamples - delay_;
    if (into < 0) return {false, 0};
    return {(into / kSlot % 2 == 0) != calls(), static_cast<unsigned>(into % kSlot)};
  }

  void receive(std::int16_t rx) {
    const Place p = place();
    if (in_time_ && p.theirs && p.into == 0) {
      got_ = was_broken_ = false;
      if (hears()) receiver_.restart();
    }
    // After it has found the far end's slots, a radio receives only in them, and once per slot.
    if (!hears() || (p.theirs && !got_)) heard(receiver_.step(low_if_receiver_.step(first_, rx)));
    if (in_time_ && p.theirs && p.into == kSlot - 1 && !got_) lost();
    if (++without_data_ == ms(kGiveUpMs)) state_ = OH_PUMP_FAILED;
    if (state_ == OH_PUMP_DATA) without_data_ = 0;
    if (observer_.instrument != nullptr && now_ >= instruments_due_ && snr_db_ > 0) instruments();
  }

  void heard(Heard what) {
    if (what == Heard::kNothing) return;
    if (what == Heard::kBroken) {
      was_broken_ = true;
      return;
    }
    const BurstHeader& h = receiver_.header();
    if (h.address != address_) {
      ++counts_.foreign;
      return;
    }
    if (h.from_caller == calls()) return;  // sent by this end and reflected
    align(h.slot);
    got_ = true;
    unheard_ = 0;
    last_heard_ = now_;
    rx_level_dbm0_ = static_cast<float>(mean_square_to_dbm0(1)) + receiver_.level_db();
    follow_snr(receiver_.snr_db());
    ask_for_rate();
    far_best_rate_ = h.best_rate;
    if (h.ends) {
      state_ = OH_PUMP_IDLE;
      return;
    }
    if (state_ == OH_PUMP_CONNECTING) state_ = OH_PUMP_TRAINING;
    if (h.hears && state_ == OH_PUMP_TRAINING) state_ = OH_PUMP_DATA;
    if (state_ != OH_PUMP_DATA) return;
    if (farewells_ == 0) ++counts_.due;
    rx_rate_ = h.rate;
    far_sends_data_ = h.data;
    if (what == Heard::kHeader && farewells_ == 0) ++counts_.broken;
    give(what == Heard::kBurst ? receiver_.payload() : nullptr);
  }

  /// The far end's slot passed without a burst.
  void lost() {
    if (unheard_ < kHearsFor) ++unheard_;
    if (state_ != OH_PUMP_DATA || farewells_ > 0) return;
    ++counts_.due;
    ++(was_broken_ ? counts_.broken : counts_.missed);
    give(nullptr);
    if (now_ - last_heard_ < ms(kLostMs)) return;
    ++retrains_;
    if (observer_.instrument != nullptr) {
      observer_.instrument(observer_.user, OH_INSTRUMENT_RETRAIN_CAUSE, OH_RETRAIN_LOST);
    }
    state_ = OH_PUMP_TRAINING;
    in_time_ = calls();
    far_sends_data_ = false;
  }

  /// @param payload  nullptr if it was not received
  void give(const std::uint8_t* payload) {
    if (!far_sends_data_) return;
    const unsigned octets = packets().octets(rx_rate_);
    if (payload == nullptr) std::fill_n(payload_.begin(), octets, std::uint8_t{0xff});
    oh_port_put(&config_.port, payload != nullptr ? payload : payload_.data(), 8 * octets);
    bits_received_ += 8 * octets;
  }

  /// The answerer derives its slots from the caller's; the caller learns how late the answerer's arrive.
  void align(std::uint16_t slot) {
    const auto began = static_cast<std::int64_t>(now_) + 1 - receiver_.age() - kGuardSamples;
    if (calls()) {
      delay_ = (began - origin_ - std::int64_t{slot} * kSlot) % (65536 * std::int64_t{kSlot});
    } else {
      origin_ = began - std::int64_t{slot} * kSlot;
      in_time_ = true;
    }
  }

  void follow_snr(float snr_db) {
    if (snr_db_ == 0) snr_db_ = snr_db;
    const float away = snr_db - snr_db_;
    snr_db_ += kSnrWeight * away;
    deviation_db_ += kDeviationWeight * (std::abs(away) - deviation_db_);
    const float mean = snr_db_;
    lowest_db_ = std::min(snr_db, lowest_db_ + kSnrWeight * (mean - lowest_db_));
  }

  /// The highest rate for the SNR at its usual lowest level. The rate rises only if the SNR exceeds that by 1 dB.
  void ask_for_rate() {
    const float safe_db = std::min(snr_db_, lowest_db_) - kDeviations * deviation_db_;
    while (best_rate_ > 0 && safe_db < kRates[best_rate_].least_snr_db) --best_rate_;
    while (best_rate_ < most_rate_ && safe_db >= kRates[best_rate_ + 1u].least_snr_db + kMarginDb) ++best_rate_;
  }

  void instruments() {
    instruments_due_ = now_ + ms(100);
    observer_.instrument(observer_.user, OH_INSTRUMENT_SNR, snr_db_);
    observer_.instrument(observer_.user, OH_INSTRUMENT_CARRIER,
                         receiver_.offset_turns() * static_cast<float>(rate_hz_));
  }

  oh_pump_config config_;
  oh_pump_observer observer_;
  unsigned rate_hz_;  // of complex samples
  typename Waveform::Sender sender_;
  typename Waveform::Receiver receiver_;
  LowIfSender low_if_sender_;
  LowIfReceiver low_if_receiver_;
  std::uint64_t ahead_;  // samples by which the current output is sent later than its reception
  float level_;
  std::uint8_t most_rate_;
  std::vector<std::uint8_t> payload_;

  oh_pump_state state_ = OH_PUMP_CONNECTING;
  std::int16_t first_ = 0, second_out_ = 0;
  std::uint64_t samples_ = 0, filled_in_ = 0, now_ = 0;  // now_: complex ones
  std::uint64_t instruments_due_ = 0;
  std::int64_t origin_ = 0;  // beginning of slot 0 on the line
  std::int64_t delay_ = 0;   // lateness of the answerer's bursts at the caller
  bool in_time_ = config_.role == OH_PUMP_CALL;
  const Complex* burst_ = nullptr;
  unsigned burst_at_ = 0;
  unsigned unheard_ = kHearsFor, farewells_ = 0;
  std::int64_t last_slot_ = -1;  // sent
  bool got_ = false, was_broken_ = false, far_sends_data_ = false;
  std::uint64_t last_heard_ = 0, without_data_ = 0;
  std::uint8_t best_rate_ = 0, far_best_rate_ = 0, rx_rate_ = 0;
  float snr_db_ = 0, deviation_db_ = 0, lowest_db_ = 100, rx_level_dbm0_ = -100;
  std::uint32_t retrains_ = 0;
  std::uint64_t bits_sent_ = 0, bits_received_ = 0;
};

/// FFTW's planner, which liquid's objects use when they are created and released, serves one thread at a time.
std::mutex& planner() {
  static std::mutex one;
  return one;
}

template <class Waveform>
struct Type {
  using Modem = Radio<Waveform>;
  static Modem& of(void* self) { return *static_cast<Modem*>(self); }

  static bool has(const oh_pump_format& format) {
    return std::any_of(Modem::kFormats.begin(), Modem::kFormats.end(),
                       [&](const oh_pump_format& f) { return same_format(format, f); });
  }
  static std::size_t size(const oh_pump_config* c) {
    if (c == nullptr || c->struct_size != sizeof *c || !has(c->format) ||
        (c->role != OH_PUMP_CALL && c->role != OH_PUMP_ANSWER) || !(c->tx_level_dbm0 >= kLeastLevel) ||
        !(c->tx_level_dbm0 <= kMostLevel) || !oh_port_is_whole(&c->port)) {
      return 0;
    }
    if (c->max_bit_rate > 0) {
      try {
        const std::lock_guard lock(planner());
        const typename Waveform::Sender sender;
        if (Modem::highest_rate(sender.packets(), c->max_bit_rate, c->format.rx.rate_hz / kCardSamples) ==
            kRates.size())
          return 0;
      } catch (const std::bad_alloc&) {
        return 0;
      }
    }
    return (sizeof(Modem) + 63) / 64 * 64;
  }
  static int init(void* self, const oh_pump_config* config) {
    if (self == nullptr || size(config) == 0) return -EINVAL;
    try {
      const std::lock_guard lock(planner());
      new (self) Modem(*config);
    } catch (const std::bad_alloc&) {
      return -ENOMEM;
    }
    return 0;
  }

  static constexpr oh_pump_type kType = {.struct_size = sizeof(oh_pump_type),
                                         .format_count = Modem::kFormats.size(),
                                         .name = Waveform::kName,
                                         .formats = Modem::kFormats.data(),
                                         .roles = kBothRoles,
                                         .fpu = kEveryOperation,
                                         .longest_step = kLongestStep,
                                         .size = size,
                                         .init = init,
                                         .process =
                                             [](void* self, const void* rx, void* tx, std::size_t n) {
                                               of(self).process(static_cast<const std::int16_t*>(rx),
                                                                static_cast<std::int16_t*>(tx), n);
                                             },
                                         .report_gap = [](void* self, std::size_t n) { of(self).report_gap(n); },
                                         .status =
                                             [](const void* self, oh_pump_status* s) {
                                               oh_pump_status all;
                                               static_cast<const Modem*>(self)->status(&all);
                                               give_status(all, s);
                                             },
                                         .hang_up = [](void* self) { of(self).hang_up(); },
                                         .release =
                                             [](void* self) {
                                               const std::lock_guard lock(planner());
                                               of(self).~Modem();
                                             },
                                         .advance = oh_pump_advance_each};
};

}  // namespace
}  // namespace offhook::radio

using namespace offhook::radio;

struct oh_radio_slots oh_radio_slot_counts(const void* self) {
  return static_cast<const Counted*>(self)->counts_;
}

int oh_radio_set_address(void* self, std::uint16_t address) {
  if (address >= kAddresses) return -EINVAL;
  static_cast<Counted*>(self)->address_ = address;
  return 0;
}

const oh_pump_type* oh_radio_burst_type(void) {
  return &Type<SingleCarrier>::kType;
}
const oh_pump_type* oh_radio_ofdm_type(void) {
  return &Type<Ofdm>::kType;
}
