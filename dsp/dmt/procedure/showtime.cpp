// SPDX-License-Identifier: MIT
#include "dsp/dmt/procedure/showtime.h"

#include "dsp/dmt/coding/constellation.h"
#include "dsp/dmt/signal/training_signals.h"

namespace offhook::dmt {
namespace {

constexpr float kFollow = 0.002f;  // step of the equaliser
constexpr float kSyncLikeness = 0.3f;
constexpr int kMostMissing = 8;  // superframes: 136 ms
constexpr int kMostWrong = 60;   // superframes: 1 s

void unit_scales(float* scale) {
  for (int b = kLeastBits; b <= kMostBits; ++b) scale[b] = 1 / square_root(mean_power(b));
}

}  // namespace

DataTransmitter::DataTransmitter(const Band& band) : band_(band) {
  reverb(band_, reverb_);
  unit_scales(scale_);
}

void DataTransmitter::begin(const Loading& loading) {
  table_.set(loading.bits, band_.tones());
  parameters_ = loading.path;
  path_.reset(parameters_);
  count_ = 0;
  announced_ = live_ = false;
}

int DataTransmitter::symbol(const oh_bit_port& port, bool live, bool block_error, Complex* points) {
  if (count_ == kFrames) {
    count_ = 0;
    for (int k = 0; k < band_.tones(); ++k) points[k] = reverb_[k];
    return 0;
  }
  if (count_ == 0) {
    live_ = announced_;
    announced_ = announced_ || live;
    indicators_ = ~(kLive | kFarBlockError) | (announced_ ? kLive : 0) | (block_error ? 0 : kFarBlockError);
  }
  ++count_;
  uint8_t payload[256] = {}, octets[256];
  uint16_t labels[kMostTones];
  if (live_) oh_port_get(&port, payload, 8u * parameters_.payload);
  path_.process(payload, indicators_, octets);
  table_.take(octets, parameters_.octets(), labels);
  for (int k = 0; k < band_.tones(); ++k) points[k] = {};
  points[band_.pilot] = kPilotPoint;
  for (int k = 0; k < table_.count(); ++k) {
    const int tone = table_.tone(k), bits = table_.bits(tone);
    const Point p = point_of(bits, labels[k]);
    points[tone] = scale_[bits] * Complex{static_cast<float>(p.x), static_cast<float>(p.y)};
  }
  return live_ ? 8 * parameters_.payload : 0;
}

DataReceiver::DataReceiver(const Band& band) : band_(band) {
  reverb(band_, reverb_);
  unit_scales(scale_);
}

void DataReceiver::begin(const Loading& loading) {
  table_.set(loading.bits, band_.tones());
  parameters_ = loading.path;
  path_.reset(parameters_);
  count_ = missing_ = wrong_ = 0;
  announced_ = live_ = block_error_ = false;
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
}

void DataReceiver::decide(Receiver* receiver, uint8_t* octets) {
  uint16_t labels[kMostTones];
  Complex decided[kMostTones] = {};
  decided[band_.pilot] = kPilotPoint;
  for (int k = 0; k < table_.count(); ++k) {
    const int tone = table_.tone(k), bits = table_.bits(tone);
    const Complex z = receiver->points()[tone];
    const Point p = nearest_point(bits, (1 / scale_[bits]) * z);
    labels[k] = static_cast<uint16_t>(label_of(bits, p));
    decided[tone] = scale_[bits] * Complex{static_cast<float>(p.x), static_cast<float>(p.y)};
  }
  table_.give(labels, octets, parameters_.octets());
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
  int given = 0;
  for (int k = 0, n = path_.process(octets); k < n; ++k) {
    const ReceivePath::Frame f = path_.frame(k);
    if (f.superframe_ended) {
      ++superframes_;
      block_error_ = !f.crc_good;
      crc_errors_ += f.crc_good ? 0 : 1;
      wrong_ = f.crc_good ? 0 : wrong_ + 1;
      live_ = live_ || (announced_ && f.crc_good);
    }
    if (f.indicators_known) {
      announced_ = (f.indicators & kLive) != 0;
      far_crc_errors_ += (f.indicators & kFarBlockError) != 0 ? 0 : 1;
    }
    if (!live_) continue;
    oh_port_put(&port, f.payload, 8u * parameters_.payload);
    given += 8 * parameters_.payload;
  }
  return given;
}

}  // namespace offhook::dmt
