// SPDX-License-Identifier: MIT
#include "driver/fax/modems.h"

#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "driver/fax/fax_pump_type.h"
#include "dsp/blocks/level.h"
#include "dsp/blocks/linear_high_pass.h"

namespace offhook::fax {
namespace {

constexpr int kRateHz = 8000;
// The gap before a signal of data: 75 ms, the least that T.30 permits, and spandsp's value.
constexpr std::int32_t kGapSamples = 75 * kRateHz / 1000;
// The preamble of V.21 takes 1 s +- 15 %; before the frames of a page it takes 200 ms.
constexpr int kV21PreambleOctets = 37;
constexpr int kPagePreamblesPerSecond = 5;
constexpr int kInterFrameFlags = 2;
constexpr int kCheckOctets = 2;
constexpr int kFramingFlags = 8;  // number in a row before a receiver reports frames
constexpr float kLeastDbm0 = -45.5f;
constexpr int kLevelSamples = 40;  // over which the level is measured to find silence
constexpr float kShortTrainingRangeDb = 26;

class Modems {
 public:
  explicit Modems(const oh_pump_config& c);

  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n);
  void report_gap(std::size_t n);
  void status(oh_pump_status* s) const;
  void hang_up() { released_ = true; }
  void take(const Message& order);
  Rings rings() { return {&orders_, &data_, &reports_, &samples_}; }
  Counters counters() const;

 private:
  void init_transmitters(float dbm0);
  void init_receivers();

  // Orders
  void take_orders();
  void begin_sending(const Message& order);
  void begin_receiving(const Message& order);

  // Transmit direction
  void transmit(std::int16_t* tx, std::size_t n);
  std::size_t generate(std::int16_t* tx, std::size_t n);
  void restart_transmitter(get_bit_func_t get, void* user);
  void offer_frame();
  int next_bit();
  const Message* data_of_this_turn() { return data_of_turn(data_, send_turn_); }

  // Receive direction
  void receive(const std::int16_t* rx, std::size_t n);
  void receive_page(const std::int16_t* rx, std::size_t n);
  void await_silence(const std::int16_t* rx, std::size_t n);
  void lose(std::size_t n);
  void put_page_bit(int bit);
  void put_received_bit(int bit);
  void flush_bits();
  void on_frame(bool v21, const std::uint8_t* octets, int length, bool good);

  Message* report(Kind kind, std::uint8_t turn, std::int32_t value);
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }

  OrderRing orders_;
  DataRing data_;
  ReportRing reports_;
  std::atomic<std::uint64_t> samples_{0}, starved_bits_{0}, lost_reports_{0}, trained_{0}, failed_{0};
  std::uint64_t filled_in_ = 0, bits_sent_ = 0, bits_received_ = 0;

  // Transmit direction
  Signal sends_ = Signal::kNone;
  bool sending_ = false, sends_frames_ = false, frame_in_hdlc_ = false, frames_ended_ = false;
  bool fills_with_ones_ = false;  // no bit of data has been sent yet
  std::uint8_t send_turn_ = 0;
  int send_rate_ = 0;
  std::int32_t gap_ = 0;  // samples of silence before the signal
  int bit_at_ = 0;        // in the oldest message of bits
  hdlc_tx_state_t hdlc_tx_;
  modem_connect_tones_tx_state_t tone_tx_;
  fsk_tx_state_t v21_tx_;
  v27ter_tx_state_t v27ter_tx_;
  v29_tx_state_t v29_tx_;
  v17_tx_state_t v17_tx_;

  // Receive direction
  Signal receives_ = Signal::kNone;
  bool receives_frames_ = false, hears_v21_ = false, hears_page_ = false, was_heard_ = false;
  std::uint8_t receive_turn_ = 0;
  int receive_rate_ = 0;
  hdlc_rx_state_t v21_hdlc_, page_hdlc_;
  fsk_rx_state_t v21_rx_;
  v27ter_rx_state_t v27ter_rx_;
  v29_rx_state_t v29_rx_;
  v17_rx_state_t v17_rx_;
  LinearHighPass front_;
  power_meter_t power_;
  float v21_dbm0_ = 0;                    // of the last good frame
  std::array<std::uint8_t, 128> bits_{};  // received in this chunk: at most 160 samples at 14 400 bit/s
  std::int32_t bit_count_ = 0;
  std::int32_t silence_samples_ = 0, silence_left_ = 0;  // of the awaited silence
  double level_sum_ = 0;                                 // squares of the last level_count_ samples
  int level_count_ = 0;

  float tx_dbm0_;
  bool released_ = false;
};

Modems::Modems(const oh_pump_config& c) : tx_dbm0_(c.tx_level_dbm0) {
  init_transmitters(c.tx_level_dbm0);
  init_receivers();
}

void Modems::init_transmitters(float dbm0) {
  hdlc_tx_init(
      &hdlc_tx_, 0, kInterFrameFlags, 0,
      [](void* self) {
        auto& m = *static_cast<Modems*>(self);
        m.frame_in_hdlc_ = false;
        m.offer_frame();
      },
      this);
  const auto none = [](void*) { return 1; };
  fsk_tx_init(&v21_tx_, &preset_fsk_specs[FSK_V21CH2], none, this);
  v27ter_tx_init(&v27ter_tx_, 4800, 0, none, this);
  v29_tx_init(&v29_tx_, 9600, 0, none, this);
  v17_tx_init(&v17_tx_, 14400, 0, none, this);
  v27ter_tx_power(&v27ter_tx_, dbm0);
  v29_tx_power(&v29_tx_, dbm0);
  v17_tx_power(&v17_tx_, dbm0);
  modem_connect_tones_tx_init(&tone_tx_, MODEM_CONNECT_TONES_FAX_CED);
}

void Modems::init_receivers() {
  hdlc_rx_init(
      &v21_hdlc_, 0, 1, kFramingFlags,
      [](void* self, const std::uint8_t* octets, int length, int good) {
        static_cast<Modems*>(self)->on_frame(true, octets, length, good != 0);
      },
      this);
  hdlc_rx_init(
      &page_hdlc_, 0, 1, kFramingFlags,
      [](void* self, const std::uint8_t* octets, int length, int good) {
        static_cast<Modems*>(self)->on_frame(false, octets, length, good != 0);
      },
      this);
  const auto put = [](void* self, int bit) { static_cast<Modems*>(self)->put_page_bit(bit); };
  v27ter_rx_init(&v27ter_rx_, 4800, put, this);
  v29_rx_init(&v29_rx_, 9600, put, this);
  v17_rx_init(&v17_rx_, 14400, put, this);
  v27ter_rx_signal_cutoff(&v27ter_rx_, kLeastDbm0);
  v29_rx_signal_cutoff(&v29_rx_, kLeastDbm0);
  v17_rx_signal_cutoff(&v17_rx_, kLeastDbm0);
  fsk_rx_init(&v21_rx_, &preset_fsk_specs[FSK_V21CH2], FSK_FRAME_MODE_SYNC,
              reinterpret_cast<put_bit_func_t>(hdlc_rx_put_bit), &v21_hdlc_);
  power_meter_init(&power_, kPowerShift);
}

Message* Modems::report(Kind kind, std::uint8_t turn, std::int32_t value) {
  Message* m = new_report(reports_, kind, turn, value);
  if (m == nullptr) add(lost_reports_, 1);
  return m;
}

// ---- Orders

void Modems::take_orders() {
  while (const Message* order = orders_.front()) {
    take(*order);
    orders_.pop();
  }
}

void Modems::take(const Message& order) {
  if (order.kind == Kind::kReceive) {
    begin_receiving(order);
  } else if (order.kind == Kind::kSend) {
    begin_sending(order);
  } else {
    send_turn_ = order.turn;
    hdlc_tx_restart(&hdlc_tx_);
    frame_in_hdlc_ = frames_ended_ = false;
  }
}

void Modems::restart_transmitter(get_bit_func_t get, void* user) {
  switch (sends_) {
    case Signal::kV21:
      fsk_tx_init(&v21_tx_, &preset_fsk_specs[FSK_V21CH2], get, user);
      fsk_tx_power(&v21_tx_, tx_dbm0_);
      break;
    case Signal::kV27ter:
      v27ter_tx_restart(&v27ter_tx_, send_rate_, 0);
      v27ter_tx_set_get_bit(&v27ter_tx_, get, user);
      break;
    case Signal::kV29:
      v29_tx_restart(&v29_tx_, send_rate_, 0);
      v29_tx_set_get_bit(&v29_tx_, get, user);
      break;
    default:
      break;
  }
}

void Modems::begin_sending(const Message& order) {
  sends_ = order.signal;
  sends_frames_ = order.frames;
  send_turn_ = order.turn;
  send_rate_ = order.value;
  gap_ = order.at_once ? 0 : kGapSamples;
  bit_at_ = 0;
  fills_with_ones_ = order.ones_first;
  frame_in_hdlc_ = frames_ended_ = false;
  sending_ = true;
  if (sends_ == Signal::kNone) {
    sending_ = false;
  } else if (sends_ == Signal::kPause) {
    gap_ = order.value * kRateHz / 1000;
  } else if (sends_ == Signal::kCed || sends_ == Signal::kCng) {
    gap_ = 0;
    modem_connect_tones_tx_init(&tone_tx_,
                                sends_ == Signal::kCed ? MODEM_CONNECT_TONES_FAX_CED : MODEM_CONNECT_TONES_FAX_CNG);
    tone_tx_.level = dds_scaling_dbm0(tx_dbm0_);
  } else {
    hdlc_tx_restart(&hdlc_tx_);
    hdlc_tx_flags(&hdlc_tx_, sends_ == Signal::kV21 ? kV21PreambleOctets : send_rate_ / (8 * kPagePreamblesPerSecond));
    const get_bit_func_t get = sends_frames_ ? reinterpret_cast<get_bit_func_t>(hdlc_tx_get_bit)
                                             : [](void* self) { return static_cast<Modems*>(self)->next_bit(); };
    void* const user = sends_frames_ ? static_cast<void*>(&hdlc_tx_) : this;
    if (sends_ == Signal::kV17) {
      v17_tx_restart(&v17_tx_, send_rate_, 0, order.short_training);
      v17_tx_set_get_bit(&v17_tx_, get, user);
    } else {
      restart_transmitter(get, user);
    }
  }
}

void Modems::begin_receiving(const Message& order) {
  flush_bits();
  receives_ = order.signal;
  receives_frames_ = order.frames;
  receive_turn_ = order.turn;
  receive_rate_ = order.value;
  hears_page_ = is_page_signal(receives_);
  hears_v21_ = hears_page_ || receives_ == Signal::kV21;
  silence_samples_ = receives_ == Signal::kPause ? std::max(1, order.value * kRateHz / 1000) : 0;
  silence_left_ = silence_samples_;
  level_sum_ = level_count_ = 0;
  if (receives_ == Signal::kV21) {
    hdlc_rx_restart(&v21_hdlc_);
    fsk_rx_init(&v21_rx_, &preset_fsk_specs[FSK_V21CH2], FSK_FRAME_MODE_SYNC,
                reinterpret_cast<put_bit_func_t>(hdlc_rx_put_bit), &v21_hdlc_);
    fsk_rx_signal_cutoff(&v21_rx_, kLeastDbm0);
  }
  if (hears_page_) hdlc_rx_restart(&page_hdlc_);
  if (receives_ == Signal::kV27ter) v27ter_rx_restart(&v27ter_rx_, receive_rate_, 0);
  if (receives_ == Signal::kV29) v29_rx_restart(&v29_rx_, receive_rate_, 0);
  if (receives_ != Signal::kV17) return;
  const float least = order.short_training ? v17_cutoff_dbm0(v21_dbm0_) : kLeastDbm0;
  v17_rx_signal_cutoff(&v17_rx_, least);
  v17_rx_restart(&v17_rx_, receive_rate_, order.short_training);
}

// ---- Transmit direction

void Modems::offer_frame() {
  if (!sending_ || !sends_frames_ || frame_in_hdlc_ || frames_ended_) return;
  const Message* m = data_of_this_turn();
  if (m == nullptr) return;
  if (m->kind == Kind::kFrame) {
    frame_in_hdlc_ = hdlc_tx_frame(&hdlc_tx_, m->octets.data(), m->length) == 0;
    if (report(Kind::kTaken, send_turn_, 0) != nullptr) reports_.push();
  } else {
    hdlc_tx_frame(&hdlc_tx_, nullptr, 0);
    frames_ended_ = true;
  }
  data_.pop();
}

int Modems::next_bit() {
  const Message* m = data_of_this_turn();
  if (m == nullptr && fills_with_ones_) return 1;
  if (m == nullptr) {
    add(starved_bits_, 1);
    return 0;
  }
  fills_with_ones_ = false;
  if (m->kind != Kind::kBits) {
    data_.pop();
    return SIG_STATUS_END_OF_DATA;
  }
  const int bit = m->octets[static_cast<std::size_t>(bit_at_) / 8] >> bit_at_ % 8 & 1;
  if (++bit_at_ >= m->value) {
    bit_at_ = 0;
    data_.pop();
  }
  ++bits_sent_;
  return bit;
}

/// @return samples made; fewer than n: the signal has ended
std::size_t Modems::generate(std::int16_t* tx, std::size_t n) {
  if (gap_ > 0) {
    const std::size_t silent = std::min(n, static_cast<std::size_t>(gap_));
    std::memset(tx, 0, silent * sizeof *tx);
    gap_ -= static_cast<std::int32_t>(silent);
    return silent;
  }
  const int room = static_cast<int>(n);
  int made = 0;
  switch (sends_) {
    case Signal::kCed:
    case Signal::kCng:
      made = modem_connect_tones_tx(&tone_tx_, tx, room);
      break;
    case Signal::kV21:
      made = fsk_tx(&v21_tx_, tx, room);
      break;
    case Signal::kV27ter:
      made = v27ter_tx(&v27ter_tx_, tx, room);
      break;
    case Signal::kV29:
      made = v29_tx(&v29_tx_, tx, room);
      break;
    case Signal::kV17:
      made = v17_tx(&v17_tx_, tx, room);
      break;
    case Signal::kNone:
    case Signal::kPause:
    case Signal::kV34:
      break;
  }
  if (made < room) {
    sending_ = false;
    if (report(Kind::kSent, send_turn_, 0) != nullptr) reports_.push();
  }
  return static_cast<std::size_t>(std::max(made, 0));
}

void Modems::transmit(std::int16_t* tx, std::size_t n) {
  std::size_t done = 0;
  offer_frame();
  while (sending_ && done < n) done += generate(tx + done, n - done);
  std::memset(tx + done, 0, (n - done) * sizeof *tx);
}

// ---- Receive direction

void Modems::receive_page(const std::int16_t* rx, std::size_t n) {
  const int count = static_cast<int>(n);
  if (receives_ == Signal::kV27ter) v27ter_rx(&v27ter_rx_, rx, count);
  if (receives_ == Signal::kV29) v29_rx(&v29_rx_, rx, count);
  if (receives_ == Signal::kV17) v17_rx(&v17_rx_, rx, count);
}

void Modems::receive(const std::int16_t* rx, std::size_t n) {
  std::int16_t clean[kChunk];
  for (std::size_t i = 0; i < n; ++i) {
    clean[i] = clip(front_.process(static_cast<float>(rx[i])));
    power_meter_update(&power_, clean[i]);
  }
  if (hears_page_) receive_page(clean, n);
  if (hears_v21_) fsk_rx(&v21_rx_, clean, static_cast<int>(n));
  if (silence_left_ > 0) await_silence(clean, n);
  flush_bits();
}

void Modems::await_silence(const std::int16_t* rx, std::size_t n) {
  constexpr double kLeastRms = kRms0Dbm0 * db_to_gain(kLeastDbm0);
  for (std::size_t i = 0; i < n && silence_left_ > 0; ++i) {
    level_sum_ += static_cast<double>(rx[i]) * rx[i];
    --silence_left_;
    if (++level_count_ < kLevelSamples && silence_left_ > 0) continue;
    if (level_sum_ > level_count_ * kLeastRms * kLeastRms) silence_left_ = silence_samples_;
    level_sum_ = level_count_ = 0;
    if (silence_left_ == 0 && report(Kind::kSilent, receive_turn_, 0) != nullptr) reports_.push();
  }
}

void Modems::lose(std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) front_.process(0);
  const int count = static_cast<int>(n);
  if (hears_page_ && receives_ == Signal::kV27ter) v27ter_rx_fillin(&v27ter_rx_, count);
  if (hears_page_ && receives_ == Signal::kV29) v29_rx_fillin(&v29_rx_, count);
  if (hears_page_ && receives_ == Signal::kV17) v17_rx_fillin(&v17_rx_, count);
  if (hears_v21_) fsk_rx_fillin(&v21_rx_, count);
  flush_bits();
}

void Modems::put_page_bit(int bit) {
  if (bit == SIG_STATUS_TRAINING_SUCCEEDED) {
    add(trained_, 1);
    hears_v21_ = false;
  }
  if (bit == SIG_STATUS_TRAINING_FAILED) add(failed_, 1);
  if (bit >= 0) ++bits_received_;
  if (receives_frames_) {
    hdlc_rx_put_bit(&page_hdlc_, bit);
  } else {
    put_received_bit(bit);
  }
}

void Modems::put_received_bit(int bit) {
  if (bit < 0) {
    flush_bits();
    if (report(Kind::kBitStatus, receive_turn_, bit) != nullptr) reports_.push();
    return;
  }
  std::uint8_t& octet = bits_[static_cast<std::size_t>(bit_count_) / 8];
  octet = static_cast<std::uint8_t>((bit_count_ % 8 == 0 ? 0 : octet) | bit << bit_count_ % 8);
  if (++bit_count_ == static_cast<std::int32_t>(8 * bits_.size())) flush_bits();
}

void Modems::flush_bits() {
  if (bit_count_ == 0) return;
  if (Message* m = report(Kind::kBits, receive_turn_, bit_count_)) {
    std::copy(bits_.begin(), bits_.end(), m->octets.begin());
    reports_.push();
  }
  bit_count_ = 0;
}

void Modems::on_frame(bool v21, const std::uint8_t* octets, int length, bool good) {
  if (length < 0) {
    if (report(Kind::kFrameStatus, receive_turn_, length) != nullptr) reports_.push();
    return;
  }
  if (v21 && good) {
    hears_page_ = false;
    v21_dbm0_ = power_meter_current_dbm0(&power_);
  }
  was_heard_ |= good;
  Message* m = report(Kind::kFrame, receive_turn_, good ? 1 : 0);
  if (m == nullptr) return;
  m->length = static_cast<std::uint16_t>(std::min<std::size_t>(static_cast<std::size_t>(length), Message::kMostOctets));
  std::copy_n(octets, m->length + kCheckOctets, m->octets.begin());  // spandsp keeps the check behind the frame
  reports_.push();
}

// ---- The pump

void Modems::process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
  take_orders();
  for (std::size_t done = 0; done < n;) {
    const std::size_t now = std::min(kChunk, n - done);
    if (released_) {
      std::memset(tx + done, 0, now * sizeof *tx);
    } else {
      receive(rx + done, now);
      transmit(tx + done, now);
    }
    done += now;
    add(samples_, now);
  }
}

void Modems::report_gap(std::size_t n) {
  take_orders();
  filled_in_ += n;
  std::int16_t unheard[kChunk];
  for (std::size_t done = 0; done < n;) {
    const std::size_t now = std::min(kChunk, n - done);
    if (!released_) {
      lose(now);
      transmit(unheard, now);
    }
    done += now;
    add(samples_, now);
  }
}

void Modems::status(oh_pump_status* s) const {
  oh_pump_status all{};
  const bool page = sending_ ? is_page_signal(sends_) : hears_page_ && !hears_v21_;
  all.state = released_ ? OH_PUMP_IDLE : !was_heard_ ? OH_PUMP_CONNECTING : page ? OH_PUMP_DATA : OH_PUMP_TRAINING;
  if (all.state == OH_PUMP_DATA && sending_) all.tx_bit_rate = static_cast<std::uint32_t>(send_rate_);
  if (all.state == OH_PUMP_DATA && !sending_) all.rx_bit_rate = static_cast<std::uint32_t>(receive_rate_);
  all.rx_level_dbm0 = power_meter_current_dbm0(const_cast<power_meter_t*>(&power_));
  all.samples = samples_.load(std::memory_order_relaxed);
  all.filled_in = filled_in_;
  all.bits_sent = bits_sent_;
  all.bits_received = bits_received_;
  all.retrains = static_cast<std::uint32_t>(failed_.load(std::memory_order_relaxed));
  give_status(all, s);
}

Counters Modems::counters() const {
  const auto now = [](const std::atomic<std::uint64_t>& c) { return c.load(std::memory_order_relaxed); };
  return {now(samples_), now(starved_bits_), now(lost_reports_), now(trained_), now(failed_)};
}

Modems& at(void* self) {
  return *static_cast<Modems*>(self);
}

constexpr oh_pump_type kType = FaxPumpType<Modems>::named("fax");

}  // namespace

const oh_pump_type* pump_type() {
  return &kType;
}

float v17_cutoff_dbm0(float v21_dbm0) {
  return std::min(kLeastDbm0, v21_dbm0 - kShortTrainingRangeDb);
}

void FreePump::operator()(void* self) const {
  pump_type()->release(self);
  std::free(self);
}

OwnPump make_pump(oh_pump_role role) {
  oh_pump_config c{};
  c.struct_size = sizeof c;
  c.format = kLinear8000;
  c.role = role;
  c.tx_level_dbm0 = kTxLevelDbm0;
  void* memory = std::aligned_alloc(64, std::max<std::size_t>(pump_type()->size(&c), 64));
  if (memory == nullptr || pump_type()->init(memory, &c) != 0) throw std::bad_alloc();  // nothing else can fail
  return OwnPump(memory);
}

Rings rings_of(void* self) {
  return at(self).rings();
}

Counters counters_of(const void* self) {
  return static_cast<const Modems*>(self)->counters();
}

void give_order(void* self, const Message& order) {
  at(self).take(order);
}

}  // namespace offhook::fax
