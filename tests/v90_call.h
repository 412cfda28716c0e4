// SPDX-License-Identifier: MIT
//
// A V.90 call: our digital modem on a simulated trunk, our analogue modem on the loop at its other end, and bits that
// tell by themselves whether they came through.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "dsp/v90/session/pump.h"
#include "dsp/v90/session/v92.h"
#include "hostsim/channel/digital_trunk.h"
#include "hostsim/channel/g711.h"
#include "hostsim/channel/impairments.h"

namespace offhook {

/// Bits of x^23 + x^18 + 1: each follows from those before, so a receiver needs no alignment. An error counts once, and
/// twice more where it is the recursion's input. As HDLC a zero stands after five ones, and is taken out again.
class CheckedBits {
 public:
  explicit CheckedBits(uint32_t seed, bool hdlc = false) : hdlc_(hdlc), sent_(seed) {}
  int get() {
    if (hdlc_ && sent_ones_ == 5) return sent_ones_ = 0;
    const int bit = next(sent_);
    sent_ = sent_ << 1 | static_cast<uint32_t>(bit);
    sent_ones_ = (sent_ones_ + 1) * bit;  // without a branch, which no processor could foresee
    return bit;
  }
  void put(int bit) {
    const bool inserted = hdlc_ && received_ones_ == 5;
    received_ones_ = (received_ones_ + 1) * static_cast<int>((bit != 0) & !inserted);
    if (!inserted) check(bit);
  }
  static constexpr int kBlock = 1000;
  uint64_t bits() const { return bits_; }
  uint64_t errors() const { return errors_; }
  uint64_t blocks() const { return blocks_; }
  uint64_t bad_blocks() const { return bad_blocks_; }

 private:
  void check(int bit) {
    const bool wrong = next(received_) != bit;
    received_ = received_ << 1 | static_cast<uint32_t>(bit);
    ++bits_;
    if (wrong && settled_ > 23) ++errors_, bad_ = true;
    if (settled_ <= 23) settled_ = wrong ? 0 : settled_ + 1;
    if (++in_block_ < kBlock) return;
    in_block_ = 0;
    ++blocks_;
    bad_blocks_ += bad_;
    bad_ = false;
  }
  static int next(uint32_t r) { return static_cast<int>((r >> 17 ^ r >> 22) & 1); }
  bool hdlc_;
  uint32_t sent_;
  uint32_t received_ = 0;
  int sent_ones_ = 0, received_ones_ = 0;
  uint64_t bits_ = 0, errors_ = 0, blocks_ = 0, bad_blocks_ = 0;
  int settled_ = 0;
  int in_block_ = 0;
  bool bad_ = false;
};

class V90Call : public hostsim::DigitalEnd {
 public:
  struct Options {
    hostsim::DigitalTrunkConfig trunk;
    float digital_dbm0 = -12;  ///< limit of the digital modem's power
    float analogue_dbm0 = -12;
    bool analogue_calls = true;
    bool v8 = true;                                  ///< else both begin at Phase 2
    bool digital_v92 = false, analogue_v92 = false;  ///< with PCM upstream
    uint32_t max_bit_rate = 0;
    bool hdlc = false;    ///< what is carried has no seven ones in a row
    uint32_t queued = 0;  ///< sample periods, half of them each way, between the analogue modem and its hybrid
    oh_v90_options analogue{}, digital{};
    std::optional<oh_v90_profile> analogue_profile, digital_profile;  ///< Quick Connect
    std::optional<hostsim::Hum> card_hum;                             ///< at the converter of the line card, of mu-law
    bool answers_by_v8bis = false;                                    ///< in it, the answerer begins with CRe
    uint64_t seed = 1;
  };
  /// A line with little noise, and no V.8.
  static Options from_phase2_on() {
    Options o;
    o.v8 = false;
    o.trunk.noise_dbm0 = -85;
    return o;
  }

  explicit V90Call(const Options& o) : options_(o), digital_bits_(0x1234567, o.hdlc), analogue_bits_(0x765432, o.hdlc) {
    oh_pump_config c{};
    c.struct_size = sizeof c;
    c.format = o.trunk.law == "a-law" ? kALaw8000 : kMuLaw8000;
    c.role = o.analogue_calls ? OH_PUMP_ANSWER : OH_PUMP_CALL;
    c.tx_level_dbm0 = o.digital_dbm0;
    c.max_bit_rate = o.max_bit_rate;
    c.port = port(digital_bits_);
    digital_memory_ = make(c, size_[0], o.digital_v92);
    c.format = kLinear16000To8000;
    c.role = o.analogue_calls ? OH_PUMP_CALL : OH_PUMP_ANSWER;
    c.tx_level_dbm0 = o.analogue_dbm0;
    c.port = port(analogue_bits_);
    c.io_delay_samples = 1 + o.queued;  // this loop's own, and the queues
    playing_.resize(o.queued / 2);
    captured_.resize(o.queued / 2 * hostsim::DigitalTrunk::kReceivedRatio);
    analogue_memory_ = make(c, size_[1], o.analogue_v92);
    if (oh_v90_set_options(digital(), &o.digital) != 0 || oh_v90_set_options(analogue(), &o.analogue) != 0)
      throw std::invalid_argument("oh_v90_options");
    if (!prepare(digital(), o.digital_profile, o.analogue_calls) ||
        !prepare(analogue(), o.analogue_profile, !o.analogue_calls))
      throw std::invalid_argument("oh_v90_profile");
    if (!o.v8) {
      oh_v90_begin(digital());
      oh_v90_begin(analogue());
    }
    trunk_ = std::make_unique<hostsim::DigitalTrunk>(o.trunk, o.seed, *this);
  }

  bool prepare(void* modem, const std::optional<oh_v90_profile>& profile, bool answers) const {
    if (!profile) return true;
    if (!options_.answers_by_v8bis || !answers) return oh_v90_quick_connect(modem, &*profile) == 0;
    return v90::prepare_quick_connect(modem, &*profile, v90::kShortPhases | v90::kByV8bis) == 0;
  }

  static oh_bit_port port(CheckedBits& bits) {
    oh_bit_port p{};
    p.user = &bits;
    p.get_bit = [](void* user) { return static_cast<CheckedBits*>(user)->get(); };
    p.put_bit = [](void* user, int bit) { static_cast<CheckedBits*>(user)->put(bit); };
    return p;
  }

  void* digital() { return digital_memory_.get(); }
  void* analogue() { return analogue_memory_.get(); }

  /// One sample period of the analogue modem.
  void step() {
    int16_t captured[hostsim::DigitalTrunk::kReceivedRatio];
    trunk_->exchange(queued(playing_, played_, samples_), captured);
    for (size_t k = 0; k < std::size(captured); ++k)
      captured[k] = queued(captured_, captured[k], samples_ * std::size(captured) + k);
    for (int16_t& x : captured) {
      if (echo_gain_ > 0) x = static_cast<int16_t>(std::lround(x + echo_gain_ * played_));
      if (added_ > 0) x = static_cast<int16_t>(x + static_cast<int>(noise() >> 16) % (2 * added_ + 1) - added_);
      if (damage_ == Damage::kNoise) x = static_cast<int16_t>(noise() >> 16);
      if (damage_ == Damage::kSilence) x = 0;
      if (damage_ == Damage::kClipped) x = x > 0 ? 32767 : -32768;
    }
    if (received_ != nullptr) received_->analogue.insert(received_->analogue.end(), captured, std::end(captured));
    if (analogue_lost_ > 0) {
      --analogue_lost_;
      type_->report_gap(analogue(), 1);
      played_ = 0;
    } else {
      type_->process(analogue(), captured, &played_, 1);
    }
    if (received_ != nullptr) received_->analogue_sent.push_back(played_);
    ++samples_;
  }
  void run(double seconds) {
    for (const auto end = samples_ + static_cast<uint64_t>(seconds * 8000); samples_ < end;) step();
  }
  /// @return whether both were in data mode within so many seconds
  bool connect(double seconds) {
    const auto end = samples_ + static_cast<uint64_t>(seconds * 8000);
    while (samples_ < end) {
      step();
      if (samples_ % 64 == 0 && analogue_status().state == OH_PUMP_DATA && digital_status().state == OH_PUMP_DATA)
        return true;
    }
    return false;
  }
  /// What happens to all that either modem hears from now on.
  enum class Damage : uint8_t { kNone, kNoise, kSilence, kClipped, kNoiseToDigital, kSilenceToDigital };
  void damage(Damage d) { damage_ = d; }
  /// White noise at the analogue modem, uniform from -most to most.
  void added_noise(int most) { added_ = most; }
  /// The near echo is another: so much more of what was played stands in what is captured.
  void added_echo_db(double db) { echo_gain_ = std::pow(10, db / 20); }
  /// The analogue modem is not served for so many sample periods from now.
  void lose(int samples) { analogue_lost_ = samples; }

  /// What both modems receive and send from now on is added to this; null: no more.
  struct Received {
    std::vector<uint8_t> digital, digital_sent;
    std::vector<int16_t> analogue;  ///< kReceivedRatio for each sample period
    std::vector<int16_t> analogue_sent;
  };
  /// From its octet `from` on the trunk carries these instead of the digital modem's.
  void instead(uint64_t from, std::vector<uint8_t> octets) {
    other_from_ = from;
    other_ = std::move(octets);
  }
  void record(Received* received) { received_ = received; }

  /// Keeps both modems and the line as they are now. A modem is nothing but its memory.
  void keep() {
    const auto bytes = [](const Memory& m, size_t size) {
      const auto* begin = static_cast<const unsigned char*>(m.get());
      return std::vector<unsigned char>(begin, begin + size);
    };
    kept_.push_back({bytes(digital_memory_, size_[0]), bytes(analogue_memory_, size_[1]), digital_bits_, analogue_bits_,
                     std::make_unique<hostsim::DigitalTrunk>(*trunk_), played_});
  }
  /// All as it was at the keep() of this number, and nothing damaged.
  void take_up(size_t number) {
    const Kept& then = kept_.at(number);
    std::memcpy(digital(), then.digital.data(), size_[0]);
    std::memcpy(analogue(), then.analogue.data(), size_[1]);
    digital_bits_ = then.digital_bits, analogue_bits_ = then.analogue_bits;
    trunk_ = std::make_unique<hostsim::DigitalTrunk>(*then.trunk);
    played_ = then.played;
    damage_ = Damage::kNone, noise_ = 1, analogue_lost_ = 0;
  }

  oh_pump_status analogue_status() { return status(analogue()); }
  oh_pump_status digital_status() { return status(digital()); }
  oh_v90_instruments analogue_instruments() {
    oh_v90_instruments i;
    oh_v90_get_instruments(analogue(), &i);
    return i;
  }
  oh_v90_instruments digital_instruments() {
    oh_v90_instruments i;
    oh_v90_get_instruments(digital(), &i);
    return i;
  }
  CheckedBits& down() { return analogue_bits_; }  ///< what the analogue modem received
  CheckedBits& up() { return digital_bits_; }
  /// Octets of Ucode 0, of mu-law, that the digital modem has sent in a row up to now.
  unsigned digital_silence() const { return silent_for_; }
  double seconds() const { return static_cast<double>(samples_) / 8000; }

 private:
  /// Takes a sample into a queue of constant length, as number `at`. @return the one that leaves it
  static int16_t queued(std::vector<int16_t>& queue, int16_t sample, uint64_t at) {
    return queue.empty() ? sample : std::exchange(queue[at % queue.size()], sample);
  }
  struct Free {
    void operator()(void* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  using Memory = std::unique_ptr<void, Free>;

  Memory make(const oh_pump_config& c, size_t& size, bool v92) const {
    size = type_->size(&c);
    if (size == 0) throw std::bad_alloc();
    Memory memory(::operator new(size, std::align_val_t(64)));
    (v92 ? oh_v92_type() : oh_v90_type())->init(memory.get(), &c);
    return memory;
  }
  oh_pump_status status(const void* self) const {
    oh_pump_status s;
    s.struct_size = sizeof s;
    type_->status(self, &s);
    return s;
  }
  uint8_t process(uint8_t rx) override {
    uint8_t tx;
    if (options_.card_hum) {
      const auto disturbed = static_cast<float>(hostsim::mu_law_decode(rx)) + options_.card_hum->next();
      rx = hostsim::mu_law_encode(static_cast<int16_t>(std::lround(disturbed)));
    }
    if (damage_ == Damage::kNoiseToDigital) rx = static_cast<uint8_t>(noise() >> 24);
    if (damage_ == Damage::kSilence || damage_ == Damage::kSilenceToDigital) rx = 0xFF;
    if (received_ != nullptr) received_->digital.push_back(rx);
    type_->process(digital(), &rx, &tx, 1);
    if (received_ != nullptr) received_->digital_sent.push_back(tx);
    if (const uint64_t at = octets_++; at >= other_from_ && at - other_from_ < other_.size())
      tx = other_[at - other_from_];
    silent_for_ = (tx & 0x7F) == 0x7F ? silent_for_ + 1 : 0;
    return tx;
  }

  struct Kept {
    std::vector<unsigned char> digital, analogue;
    CheckedBits digital_bits, analogue_bits;
    std::unique_ptr<hostsim::DigitalTrunk> trunk;
    int16_t played;
  };

  const oh_pump_type* type_ = oh_v90_type();  // both have its functions but for init
  Options options_;
  std::vector<Kept> kept_;
  size_t size_[2]{};
  CheckedBits digital_bits_, analogue_bits_;
  Memory digital_memory_, analogue_memory_;
  std::unique_ptr<hostsim::DigitalTrunk> trunk_;
  uint32_t noise() { return noise_ = noise_ * 1664525 + 1013904223; }

  Damage damage_ = Damage::kNone;
  uint32_t noise_ = 1;
  unsigned silent_for_ = 0;
  int16_t played_ = 0;
  int analogue_lost_ = 0, added_ = 0;
  double echo_gain_ = 0;
  Received* received_ = nullptr;
  std::vector<int16_t> playing_, captured_;  // the queues
  uint64_t samples_ = 0, octets_ = 0, other_from_ = 0;
  std::vector<uint8_t> other_;
};

/// Lines for tests of V.92's procedures: noise and echo of a poor loop, a clock with an error, the other law behind
/// a pad with robbed bits, a satellite.
struct LineOfV92 {
  const char* name;
  void (*make)(hostsim::DigitalTrunkConfig& trunk);
};
inline constexpr LineOfV92 kLinesOfV92[] = {
    {"noise", [](hostsim::DigitalTrunkConfig& t) { t.noise_dbm0 = -58, t.loss_db = 12, t.near_echo_db = 8; }},
    {"clock", [](hostsim::DigitalTrunkConfig& t) { t.clock_ppm = 100; }},
    {"a-law",
     [](hostsim::DigitalTrunkConfig& t) { t.law = t.codec = "a-law", t.pad_db = 6, t.robbed_bits = 0b001001; }},
    {"delay", [](hostsim::DigitalTrunkConfig& t) { t.delay_ms = 300; }},
};

}  // namespace offhook
