// SPDX-License-Identifier: MIT
//
// A link without samples, for large sweeps: V.42 frames on a V.90-like connection between the modem under test and a
// far modem, and what holes in the signal do to it. Calibrated constants and their margins: traces/profiles/*.toml.
//
// A hole of u samples in what the card played (an underrun) does two things to the far modem: it gets wrong bits from
// the hole until its receiver has settled again, so that acknowledgements in that time are lost; and with probability
// 1 - exp(-u / u0) it loses synchronisation. Then both modems retrain, which succeeds after a stretch of line without
// holes; when there is none for too long the call is over. Received samples that were lost do the same in the other
// direction. Nothing here knows of contexts or reservations.
#pragma once

#include <cstdint>
#include <deque>

#include "hostsim/call/cost_profile.h"
#include "hostsim/random/random.h"
#include "offhook/event_log.h"
#include "offhook/pump.h"

namespace offhook::hostsim {

struct LinkCounters {
  std::uint64_t bytes_delivered = 0;
  std::uint32_t frames_sent = 0;  ///< I frames, repetitions included
  std::uint32_t frames_retransmitted = 0;
  std::uint32_t frames_lost = 0;  ///< I frames and acknowledgements hit by a hole
  std::uint32_t timeouts = 0;
  std::uint32_t retrains = 0;
};

class LinkModel {
 public:
  enum class State { kIdle, kTraining, kData, kFailed };

  /// Far to near carries `bytes`. @param connect the first training lasts at least this long
  LinkModel(const LinkProfile& profile, std::uint64_t bytes, Ns connect, Ns lead, std::uint64_t seed,
            oh_event_log* log);

  /// The call is answered: training begins.
  void start(Ns now);
  /// The modem under test processed samples captured up to `captured`; its output plays from now + lead on.
  void serve(Ns now, Ns captured);
  /// The card played a hole that ended at `end`, or lost received samples.
  void transmit_hole(Ns end, std::uint32_t samples, std::uint32_t rate_hz);
  void receive_hole(Ns end, std::uint32_t samples, std::uint32_t rate_hz);

  State state() const { return state_; }
  bool done() const { return counters_.bytes_delivered >= bytes_; }
  Ns connected_at() const { return connected_at_; }  ///< -1: never
  Ns done_at() const { return done_at_; }            ///< -1: never
  const LinkCounters& counters() const { return counters_; }

 private:
  struct Interval {
    Ns from, to;
  };
  struct Frame {
    Ns from, to;  // on the wire at the receiver
    std::uint64_t number;
    bool reject;
  };
  void set_state(State state, Ns now);
  void lose_sync_by(std::uint32_t samples, Ns now);
  void hole(std::deque<Interval>& holes, Ns end, std::uint32_t samples, std::uint32_t rate_hz);
  bool hit(const std::deque<Interval>& holes, const Frame& frame) const;
  void train(Ns now);
  void far_end(Ns now);
  void acknowledge(Ns now, bool reject);
  void deliver();
  void record(Ns now, oh_event_kind kind, std::uint64_t argument) const;

  LinkProfile profile_;
  std::uint64_t bytes_;
  std::uint64_t frames_;
  Ns connect_, lead_, delay_;
  Ns frame_time_, ack_time_;
  Random random_;
  std::uint64_t draws_ = 0;
  oh_event_log* log_;

  State state_ = State::kIdle;
  Ns training_since_ = 0, clean_since_ = 0, training_needs_ = 0;
  Ns connected_at_ = -1, done_at_ = -1;
  // the far end's sender
  std::uint64_t next_ = 0, acknowledged_ = 0, highest_ = 0;
  Ns far_free_ = 0, progress_at_ = 0;
  std::uint32_t attempts_ = 0;
  // the near end's receiver
  std::uint64_t expected_ = 0;
  bool rejected_ = false;
  Ns up_free_ = 0;
  std::deque<Frame> down_, up_;
  std::deque<Interval> down_holes_, up_holes_;
  LinkCounters counters_;
};

}  // namespace offhook::hostsim
