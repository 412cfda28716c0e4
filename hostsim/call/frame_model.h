// SPDX-License-Identifier: MIT
//
// One end of V.42 without bits: the frames that it sends, with their times, and its reaction to received frames. Octets
// are counted, not carried. Both ends use this class; its owner damages frames on the way. It follows dsp/link with the
// default parameters of both ends. A missing frame is requested once with SREJ. If the request or the answer is lost,
// T401 expires, and all unacknowledged frames are sent again. dsp/link enquires first (8.4.8); this model does not.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

#include "hostsim/engine/engine.h"

namespace offhook::hostsim {

/// A frame on the line, at the receiver.
struct LineFrame {
  enum class Kind : std::uint8_t { kInformation, kReady, kAskAgain };  ///< I, RR, SREJ

  Ns from, to;
  Kind kind;
  std::uint64_t number;        ///< N(S) of an I frame; the frame that SREJ requests
  std::uint32_t octets;        ///< octets of information in an I frame
  std::uint64_t acknowledges;  ///< N(R); of no SREJ
};

/// Not real-time.
class FrameModel {
 public:
  static constexpr std::uint32_t kAttempts = 10;  ///< N400

  struct Config {
    double bps;
    std::uint32_t frame_octets, window;  ///< N401, k
    Ns t401;
  };
  struct Counters {
    std::uint32_t sent = 0, sent_again = 0, timeouts = 0;
  };

  explicit FrameModel(const Config& config) : config_(config) {}
  /// Adds octets that wait to be sent.
  void put(std::uint64_t octets) { waiting_ += octets; }
  /// Appends the frames that begin before `until` to those on the line; they arrive `delay` later.
  void transmit(Ns until, Ns delay, std::deque<LineFrame>* line);
  /// An undamaged frame arrived. @return number of frames that this end sends again because of it
  std::uint32_t receive(const LineFrame& frame);
  /// T401 expired. @return number of frames that are sent again
  std::uint32_t advance(Ns now);
  /// Synchronisation has returned: sends the frames again that were on the line.
  void resume(Ns now);
  /// Octets received in order.
  std::uint64_t received() const { return received_; }
  bool failed() const { return attempts_ > kAttempts; }
  const Counters& counters() const { return counters_; }

  /// Duration of a frame on the line. Flag, address, two control octets, two check octets (V.42, 8.1), and one inserted
  /// zero per 62 random bits.
  static Ns wire_time(std::uint32_t octets, double bps) {
    return static_cast<Ns>((octets + 6) * 8 * (63.0 / 62.0) / bps * 1e9);
  }

 private:
  bool outstanding() const { return next_ > acknowledged_; }
  bool may_send() const { return next_ - acknowledged_ < config_.window && (next_ < highest_ || waiting_ > 0); }
  void send(std::uint64_t number, LineFrame* frame);
  void take_acknowledgement(const LineFrame& frame);
  std::uint32_t go_back();

  Config config_;
  Ns free_ = 0;  // the line state from then on
  // sender
  std::uint64_t waiting_ = 0;         // octets
  std::deque<std::uint32_t> octets_;  // of the frames from acknowledged_ to highest_
  std::uint64_t next_ = 0, acknowledged_ = 0, highest_ = 0;
  Ns progress_at_ = 0;
  std::uint32_t attempts_ = 0;
  std::deque<std::uint64_t> again_;  // requested
  // receiver
  std::uint64_t expected_ = 0, received_ = 0;
  std::map<std::uint64_t, std::uint32_t> early_;  // octets of frames after a gap, by frame number
  std::uint64_t asked_below_ = 0;
  std::deque<std::uint64_t> to_ask_;
  bool owes_acknowledgement_ = false;
  Counters counters_;
};

}  // namespace offhook::hostsim
