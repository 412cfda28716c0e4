// SPDX-License-Identifier: MIT
//
// A link without samples, for large sweeps. It models V.42 frames on a V.90-like connection between the modem under
// test and a far modem, TCP above them, and the effect of holes in the signal. Constants and their sources:
// traces/data/profiles/*.toml.
//
// A hole of u samples in the output of the card (an underrun) has two effects on the far modem. It receives wrong bits
// until its receiver has settled again, so that the frames in that time are lost. With probability 1 - exp(-u / u0) it
// loses synchronisation. Lost received samples have the same effects in the other direction.
//
//    training -- long enough without losing synchronisation --> data -- synchronisation lost --> training (a retrain)
//        '------ for give_up_ms in vain ------> failed <------ V.42 (N400) or TCP give up ---------'
//
// V.42 sends a lost frame again. The cost depends on the direction. The loss of data towards this end is noticed at
// once. The other direction carries only TCP's acknowledgements, so the loss of one is noticed with the next one or by
// T401. Meanwhile the server's window is full; finally its timer expires, and it repeats segments that have arrived
// (tcp_flow.h). The model is independent of contexts and reservations.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "hostsim/call/cost_profile.h"
#include "hostsim/call/frame_model.h"
#include "hostsim/call/tcp_flow.h"
#include "hostsim/engine/random.h"
#include "offhook/event_log.h"
#include "offhook/pump.h"

namespace offhook::hostsim {

struct LinkCounters {
  std::uint64_t bytes_delivered = 0;
  std::uint32_t frames_sent = 0;  ///< I frames of both ends, including repetitions
  std::uint32_t frames_retransmitted = 0;
  std::uint32_t frames_lost = 0;  ///< frames of any kind that a gap hit
  std::uint32_t timeouts = 0;
  std::uint32_t retrains = 0;
};

class LinkModel {
 public:
  enum class State { kIdle, kTraining, kData, kFailed };

  /// From far to near, `bytes` are sent. @param connect minimum duration of the first training
  LinkModel(const LinkProfile& profile, std::uint64_t bytes, Ns connect, Ns lead, std::uint64_t seed,
            oh_event_log* log);

  /// The call is answered: training begins.
  void start(Ns now);
  /// The modem under test has processed samples captured up to `captured`; its output is played from now + lead on.
  void serve(Ns now, Ns captured);
  /// The card played a gap that ended at `end`, or lost received samples.
  void transmit_hole(Ns end, std::uint32_t samples, std::uint32_t rate_hz);
  void receive_hole(Ns end, std::uint32_t samples, std::uint32_t rate_hz);

  State state() const { return state_; }
  bool done() const { return counters_.bytes_delivered >= bytes_; }
  Ns connected_at() const { return connected_at_; }  ///< -1: never
  Ns done_at() const { return done_at_; }            ///< -1: never
  LinkCounters counters() const;

  /// The reason for the failure, in words; nullptr if it has not failed.
  const char* failure() const { return failure_; }

 private:
  struct Interval {
    Ns from, to;
  };
  /// TCP data in both directions, and the octet of the link after which they have arrived.
  struct Packet {
    std::uint64_t ends;
    std::size_t from, size;  // range of the file; an acknowledgement covers everything below `from`
  };
  struct Transfer {
    TcpSender server;
    TcpReceiver client;
    std::deque<Packet> segments, acknowledgements;
    std::uint64_t octets_down = 0, octets_up = 0;
  };
  void set_state(State state, Ns now);
  void fail(const char* why, Ns now);
  void spoil(std::deque<Interval>& holes, Ns end, Ns length);
  void upset(Ns end, std::uint32_t samples);
  void lose_synchronisation(Ns now);
  bool hit(const std::deque<Interval>& holes, const LineFrame& frame) const;
  void train(Ns now);
  void receive(FrameModel& end, std::deque<LineFrame>& line, const std::deque<Interval>& holes, Ns until, Ns now);
  void serve_far(Ns now);
  void serve_near(Ns now, Ns captured);
  void acknowledge();
  void deliver(Ns now);
  std::uint64_t octets_of(std::size_t data) const;
  void record(Ns now, oh_event_kind kind, std::uint64_t argument) const;

  LinkProfile profile_;
  std::uint64_t bytes_;
  Ns connect_, lead_, delay_;
  Random random_;
  std::uint64_t draws_ = 0;
  oh_event_log* log_;

  State state_ = State::kIdle;
  const char* failure_ = nullptr;
  Ns training_since_ = 0, attempt_since_ = 0, training_needs_ = 0;
  Ns connected_at_ = -1, done_at_ = -1;
  FrameModel far_, near_;
  std::optional<Transfer> tcp_;      // empty: V.42 gets the file itself
  std::deque<LineFrame> down_, up_;  // on the line
  std::deque<Interval> down_holes_, up_holes_;
  LinkCounters counters_;
};

}  // namespace offhook::hostsim
