// SPDX-License-Identifier: MIT
#include "dsp/dmt/showtime.h"

#include "dsp/dmt/constellation.h"
#include "dsp/dmt/training_signals.h"

namespace offhook::dmt {
namespace {

constexpr float kFollow = 0.002f;  // step of the equaliser
constexpr float kSyncLikeness = 0.3f;
constexpr int kMostMissing = 8;  // superframes: 136 ms
constexpr int kMostWrong = 60;   // superframes: 1 s

constexpr float kErrorStep = 1.0f / 256;                           // 64 ms of symbols
constexpr uint8_t kSwapAhead = 12;                                 // superframes from a request to its change: 0.2 s
constexpr float kGone = static_cast<float>(db_to_gain(2 * -1.0));  // margin at which the error rate reaches 1e-7: 0 dB
constexpr int kSwapPatience = 48;                                  // superframes without an acknowledgement
constexpr int kSettle = 12;  // superframes from a change to the next proposal, while the errors adapt

}  // namespace

void ToneScales::set(const Band& band, const Loading& loading) {
  float unit[kMostBits + 1]{};  // factor from a constellation of this many bits to unit power
  for (int b = kLeastBits; b <= kMostBits; ++b) unit[b] = 1 / square_root(mean_power(b));
  for (int k = 0; k < band.tones(); ++k) of[k] = unit[loading.bits[k]] * loading.gain(k);
}

DataTransmitter::DataTransmitter(const Band& band) : band_(band) {
  reverb(band_, reverb_);
}

void DataTransmitter::begin(const Loading& loading) {
  loading_ = loading;
  scales_.set(band_, loading_);
  table_.set(loading_.bits, band_.tones(), loading_.trellis);
  path_.reset(loading_.path);
  filler_.reset();
  count_ = 0;
  superframe_ = 0;
  acknowledge_ = {};
  swapped_ = false;
  announced_ = live_ = false;
}

void DataTransmitter::swap(const SwapRequest& request) {
  if (acknowledge_.kind != Operation::Kind::kNone || (swapped_ && request.id == swap_id_)) return;
  next_ = loading_;
  if (!swap_bits(band_, request, &next_)) return;
  acknowledge_.kind = Operation::Kind::kAcknowledge;
  acknowledge_.id = request.id;
  acknowledge_.superframe = static_cast<uint8_t>(superframe_ + kSwapAhead);
}

void DataTransmitter::begin_superframe(bool live, bool block_error, const SwapRequest* request) {
  if (acknowledge_.kind != Operation::Kind::kNone && superframe_ == acknowledge_.superframe) {
    loading_ = next_;
    scales_.set(band_, loading_);
    table_.set(loading_.bits, band_.tones(), loading_.trellis);
    swap_id_ = acknowledge_.id;
    swapped_ = true;
    acknowledge_ = {};
  }
  // An acknowledgement and a request alternately, if there are both.
  Operation now = acknowledge_;
  if (request != nullptr && (now.kind == Operation::Kind::kNone || superframe_ % 2 == 0)) {
    now.kind = Operation::Kind::kRequest;
    now.request = *request;
  }
  write_operation(now, operation_);
  live_ = announced_;
  announced_ = announced_ || live;
  indicators_ = ~(kLive | kFarBlockError) | (announced_ ? kLive : 0) | (block_error ? 0 : kFarBlockError);
}

int DataTransmitter::symbol(const oh_bit_port& port, bool live, bool block_error, const SwapRequest* request,
                            Complex* points) {
  if (count_ == kFrames) {
    count_ = 0;
    ++superframe_;
    for (int k = 0; k < band_.tones(); ++k) points[k] = reverb_[k];
    return 0;
  }
  if (count_ == 0) begin_superframe(live, block_error, request);
  ++count_;
  const PathParameters& p = loading_.path;
  uint8_t payload[256] = {}, octets[256] = {};
  uint16_t labels[kMostTones];
  if (live_) oh_port_get(&port, payload, 8u * p.payload);
  path_.process(payload, indicators_, operation_, octets);
  // Bits that no octet of the frame fills use the largest constellations, where zeros would add up to a peak.
  for (int k = p.octets(); 8 * k < table_.data_bits() && k < 256; ++k) octets[k] = filler_.scramble(0);
  table_.take(octets, 256, labels);
  for (int k = 0; k < band_.tones(); ++k) points[k] = {};
  points[band_.pilot] = kPilotPoint;
  for (int k = 0; k < table_.count(); ++k) {
    const int tone = table_.tone(k);
    const Point at = point_of(table_.bits(tone), labels[k]);
    points[tone] = scales_.of[tone] * Complex{static_cast<float>(at.x), static_cast<float>(at.y)};
  }
  return live_ ? 8 * p.payload : 0;
}

DataReceiver::DataReceiver(const Band& band) : band_(band) {
  reverb(band_, reverb_);
}

void DataReceiver::begin(const Loading& loading, const float* error) {
  loading_ = loading;
  for (int k = 0; k < band_.tones(); ++k) error_[k] = error[k];
  apply();
  path_.reset(loading_.path);
  count_ = missing_ = wrong_ = 0;
  superframe_ = 0;
  least_margin_ = 0;
  weak_ = since_change_ = waited_ = 0;
  asking_ = acknowledged_ = far_asks_ = false;
  announced_ = live_ = block_error_ = false;
}

/// The trellis decoder weights each tone by its noise.
void DataReceiver::weigh() {
  if (!loading_.trellis) return;
  float noise[kMostTones];
  for (int k = 0; k < band_.tones(); ++k) noise[k] = error_[k] * inverse_.of[k] * inverse_.of[k];
  trellis_.set(table_, noise);
}

void DataReceiver::apply() {
  scales_.set(band_, loading_);
  for (int k = 0; k < band_.tones(); ++k) inverse_.of[k] = scales_.of[k] > 0 ? 1 / scales_.of[k] : 0;
  table_.set(loading_.bits, band_.tones(), loading_.trellis);
  for (float& m : margin_) m = 0;
  weigh();
}

bool DataReceiver::take_far_request(SwapRequest* request) {
  if (!far_asks_) return false;
  far_asks_ = false;
  *request = far_request_;
  return true;
}

/// A superframe's operation is complete, and its CRC was correct.
void DataReceiver::hear_operation() {
  const Operation o = read_operation(operation_);
  if (o.kind == Operation::Kind::kRequest) {
    far_request_ = o.request;
    far_asks_ = true;
  } else if (o.kind == Operation::Kind::kAcknowledge && asking_ && o.id == request_.id) {
    asking_ = false;
    next_ = loading_;
    acknowledged_ = swap_bits(band_, request_, &next_);
    swap_at_ = o.superframe;
  }
}

/// One data symbol's share of the tones: each tone is measured once per superframe.
void DataReceiver::measure_margins() {
  constexpr int kShare = (kMostTones + kFrames - 1) / kFrames;
  for (int k = kShare * (count_ - 1); k < kShare * count_ && k < table_.count(); ++k) {
    const int tone = table_.tone(k);
    margin_[tone] = error_[tone] > 0 ? margin_of(loading_, tone, error_[tone]) : 0;
  }
}

/// Once per superframe, in the symbol that carries no data.
void DataReceiver::watch_margins() {
  least_margin_ = 0;
  for (int k = 0; k < table_.count(); ++k) {
    const float margin = margin_[table_.tone(k)];
    if (margin > 0 && (least_margin_ == 0 || margin < least_margin_)) least_margin_ = margin;
  }
  ++since_change_;
  bool helped = acknowledged_;
  if (asking_) {
    if (++waited_ < kSwapPatience) {
      helped = true;
    } else {
      asking_ = false;
      since_change_ = 0;
    }
  } else if (!acknowledged_ && since_change_ >= kSettle && propose_swap(band_, loading_, margin_, &request_)) {
    ++request_.id;
    asking_ = helped = true;
    waited_ = 0;
  }
  // A running swap waits four times as long, unless no frame gets through.
  weak_ = least_margin_ > 0 && least_margin_ < kGone ? weak_ + (helped && !block_error_ ? 1 : 4) : 0;
}

bool DataReceiver::lost() const {
  return missing_ >= kMostMissing || wrong_ >= kMostWrong;
}

void DataReceiver::sync(Receiver* receiver) {
  if (receiver->likeness(reverb_) < kSyncLikeness) {
    ++missing_;
    ++bad_syncs_;
  } else {
    missing_ = 0;
    receiver->learn(reverb_, kFollow);
  }
  watch_margins();
  weigh();
  ++superframe_;
  if (!acknowledged_ || superframe_ != swap_at_) return;
  acknowledged_ = false;
  since_change_ = 0;
  swapped_bits_ += static_cast<uint32_t>(request_.count) / 2;
  loading_ = next_;
  apply();
}

void DataReceiver::decide(Receiver* receiver, uint8_t* octets) {
  uint16_t labels[kMostTones];
  Complex decided[kMostTones] = {};
  decided[band_.pilot] = kPilotPoint;
  const float step = receiver->trusted() ? kErrorStep : 0;
  for (int k = 0; k < table_.count(); ++k)
    scaled_[k] = inverse_.of[table_.tone(k)] * receiver->points()[table_.tone(k)];
  if (table_.trellis()) trellis_.decode(scaled_, cosets_);
  for (int k = 0; k < table_.count(); ++k) {
    const int tone = table_.tone(k), bits = table_.bits(tone);
    const Complex z = receiver->points()[tone];
    const Point p = table_.trellis() ? nearest_point(bits, cosets_[k], scaled_[k]) : nearest_point(bits, scaled_[k]);
    labels[k] = static_cast<uint16_t>(label_of(bits, p));
    decided[tone] = scales_.of[tone] * Complex{static_cast<float>(p.x), static_cast<float>(p.y)};
    error_[tone] += step * (norm(z - decided[tone]) - error_[tone]);
  }
  table_.give(labels, octets, loading_.path.octets());
  receiver->learn(decided, kFollow);
}

int DataReceiver::symbol(Receiver* receiver, const oh_bit_port& port) {
  spoiled_ += receiver->spoiled() ? 1 : 0;
  if (count_ == kFrames) {
    count_ = 0;
    sync(receiver);
    return 0;
  }
  ++count_;
  uint8_t octets[256];
  decide(receiver, octets);
  measure_margins();
  ReceivePath::Frame f;
  if (!path_.process(octets, &f)) return 0;
  if (f.superframe_ended) {
    ++superframes_;
    block_error_ = !f.crc_good;
    crc_errors_ += f.crc_good ? 0 : 1;
    wrong_ = f.crc_good ? 0 : wrong_ + 1;
    live_ = live_ || (announced_ && f.crc_good);
    if (f.crc_good) hear_operation();
  }
  if (f.operation_octet >= 0) operation_[f.operation_octet] = f.overhead;
  if (f.indicators_known) {
    announced_ = (f.indicators & kLive) != 0;
    far_crc_errors_ += (f.indicators & kFarBlockError) != 0 ? 0 : 1;
  }
  if (!live_) return 0;
  oh_port_put(&port, f.payload, 8u * loading_.path.payload);
  return 8 * loading_.path.payload;
}

}  // namespace offhook::dmt
