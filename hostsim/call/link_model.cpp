// SPDX-License-Identifier: MIT
#include "hostsim/call/link_model.h"

#include <algorithm>
#include <cmath>

#include "hostsim/host/distribution.h"

namespace offhook::hostsim {

namespace {

Ns ns(double ms) {
  return static_cast<Ns>(ms * kNsPerMs);
}

FrameModel::Config end_of(const LinkProfile& p, double bps) {
  return {.bps = bps, .frame_octets = p.frame_bytes, .window = p.window, .t401 = ns(p.t401_ms)};
}

}  // namespace

LinkModel::LinkModel(const LinkProfile& profile, std::uint64_t bytes, Ns connect, Ns lead, std::uint64_t seed,
                     oh_event_log* log)
    : profile_(profile),
      bytes_(bytes),
      connect_(connect),
      lead_(lead),
      delay_(ns(profile.one_way_delay_ms)),
      random_(seed, 0x6c696e6bU),  // "link"
      log_(log),
      far_(end_of(profile, profile.down_bps)),
      near_(end_of(profile, profile.up_bps)) {
  if (profile.packet_bytes >= bytes) {
    far_.put(bytes);
    return;
  }
  tcp_.emplace(Transfer{TcpSender(bytes, profile.packet_bytes), {}, {}, {}});
  tcp_->server.acknowledge(0, TcpReceiver::kWindow, 0);  // the connection has been opened
}

/// Octets of the link for a packet with `data` bytes of the file.
std::uint64_t LinkModel::octets_of(std::size_t data) const {
  return static_cast<std::uint64_t>(
      std::llround((static_cast<double>(data) + profile_.packet_header_octets) * (1 + profile_.escaped_share)));
}

void LinkModel::record(Ns now, oh_event_kind kind, std::uint64_t argument) const {
  oh_event_log_write(log_, static_cast<std::uint64_t>(now), kind, 0,
                     static_cast<std::uint32_t>(std::min<std::uint64_t>(argument, UINT32_MAX)));
}

void LinkModel::set_state(State state, Ns now) {
  state_ = state;
  static constexpr oh_pump_state kPump[] = {OH_PUMP_IDLE, OH_PUMP_TRAINING, OH_PUMP_DATA, OH_PUMP_FAILED};
  record(now, OH_EV_PUMP_STATE, kPump[static_cast<int>(state)]);
}

void LinkModel::fail(const char* why, Ns now) {
  failure_ = why;
  set_state(State::kFailed, now);
}

void LinkModel::start(Ns now) {
  training_since_ = attempt_since_ = now;
  training_needs_ = connect_;
  set_state(State::kTraining, now);
}

// Time in which bits are wrong.
void LinkModel::spoil(std::deque<Interval>& holes, Ns end, Ns length) {
  holes.push_back({end - length, end + ns(profile_.settling_ms)});
  // Frames that are still on the line have at most this age.
  const Ns forget = end - static_cast<Ns>(2e9) - 2 * delay_;
  while (holes.front().to < forget) holes.pop_front();
}

void LinkModel::upset(Ns end, std::uint32_t samples) {
  if (state_ != State::kData && state_ != State::kTraining) return;
  if (random_.exponential(draws_++) * profile_.sync_loss_samples <= samples) lose_synchronisation(end);
}

void LinkModel::transmit_hole(Ns end, std::uint32_t samples, std::uint32_t rate_hz) {
  const Ns length = static_cast<Ns>(samples * 1e9 / rate_hz);
  spoil(up_holes_, end, length);
  spoil(down_holes_, end, length);  // this end's canceller subtracts the echo of samples that were not sent
  upset(end, samples);
}
void LinkModel::receive_hole(Ns end, std::uint32_t samples, std::uint32_t rate_hz) {
  spoil(down_holes_, end, static_cast<Ns>(samples * 1e9 / rate_hz));
  upset(end, samples);
}

void LinkModel::lose_synchronisation(Ns now) {
  attempt_since_ = std::max(attempt_since_, now);
  if (state_ == State::kTraining) return;  // restarted
  counters_.retrains++;
  counters_.frames_lost += static_cast<std::uint32_t>(down_.size());
  down_.clear();
  up_.clear();
  training_since_ = attempt_since_ = now;
  training_needs_ = ns(profile_.training_ms);
  set_state(State::kTraining, now);
}

bool LinkModel::hit(const std::deque<Interval>& holes, const LineFrame& frame) const {
  return std::any_of(holes.begin(), holes.end(),
                     [&](const Interval& h) { return h.from < frame.to && frame.from < h.to; });
}

void LinkModel::train(Ns now) {
  const Ns attempt = std::min(training_needs_, ns(profile_.training_ms));
  if (now - training_since_ >= training_needs_ && now - attempt_since_ >= attempt) {
    if (connected_at_ < 0) connected_at_ = now;
    far_.resume(now);
    near_.resume(now + lead_);
    set_state(State::kData, now);
  } else if (now - training_since_ >= ns(profile_.give_up_ms)) {
    fail(connected_at_ < 0 ? "the modems never connected" : "the far modem hung up: no retrain succeeded", now);
  }
}

// Frames that arrived by `until` and were not hit by a gap.
void LinkModel::receive(FrameModel& end, std::deque<LineFrame>& line, const std::deque<Interval>& holes, Ns until,
                        Ns now) {
  while (!line.empty() && line.front().to <= until) {
    const LineFrame frame = line.front();
    line.pop_front();
    if (hit(holes, frame)) {
      counters_.frames_lost++;
    } else if (const std::uint32_t again = end.receive(frame); again > 0) {
      record(now, OH_EV_LINK_RETRANSMIT, again);
    }
  }
  if (const std::uint32_t again = end.advance(now); again > 0) record(now, OH_EV_LINK_RETRANSMIT, again);
}

// Runs the far modem and the server above it up to now.
void LinkModel::serve_far(Ns now) {
  receive(far_, up_, up_holes_, now - delay_, now);
  if (tcp_) {
    auto& acknowledgements = tcp_->acknowledgements;
    for (; !acknowledgements.empty() && acknowledgements.front().ends <= far_.received(); acknowledgements.pop_front())
      tcp_->server.acknowledge(acknowledgements.front().from, TcpReceiver::kWindow, now);
    tcp_->server.advance(now);
    while (const std::optional<TcpSender::Segment> segment = tcp_->server.next(now)) {
      const std::uint64_t octets = octets_of(segment->size);
      tcp_->octets_down += octets;
      far_.put(octets);
      tcp_->segments.push_back({tcp_->octets_down, segment->from, segment->size});
    }
  }
  far_.transmit(now, delay_, &down_);
}

void LinkModel::acknowledge() {
  const std::uint64_t octets = octets_of(0);
  tcp_->octets_up += octets;
  near_.put(octets);
  tcp_->acknowledgements.push_back({tcp_->octets_up, tcp_->client.received(), 0});
}

// Takes captured samples; the output of this moment is played after the transmit lead.
void LinkModel::serve_near(Ns now, Ns captured) {
  receive(near_, down_, down_holes_, captured, now);
  deliver(now);
  near_.transmit(now + lead_, 0, &up_);
}

void LinkModel::deliver(Ns now) {
  const std::uint64_t before = counters_.bytes_delivered;
  if (tcp_) {
    auto& segments = tcp_->segments;
    for (; !segments.empty() && segments.front().ends <= near_.received(); segments.pop_front())
      if (tcp_->client.put(segments.front().from, segments.front().size, now)) acknowledge();
    if (tcp_->client.advance(now)) acknowledge();
    counters_.bytes_delivered = tcp_->client.received();
  } else {
    counters_.bytes_delivered = near_.received();
  }
  if (counters_.bytes_delivered == before) return;
  record(now, OH_EV_LINK_BYTES, counters_.bytes_delivered);
  if (done() && done_at_ < 0) done_at_ = now;
}

LinkCounters LinkModel::counters() const {
  LinkCounters all = counters_;
  const FrameModel::Counters &f = far_.counters(), &n = near_.counters();
  all.frames_sent = f.sent + n.sent;
  all.frames_retransmitted = f.sent_again + n.sent_again;
  all.timeouts = f.timeouts + n.timeouts;
  return all;
}

void LinkModel::serve(Ns now, Ns captured) {
  if (state_ == State::kTraining) train(now);
  if (state_ != State::kData) return;
  serve_far(now);
  serve_near(now, captured);
  if (far_.failed() || near_.failed()) {
    fail("error control gave up: no frame was acknowledged", now);
  } else if (tcp_ && tcp_->server.failed()) {
    fail("TCP gave up: no segment was acknowledged", now);
  }
}

}  // namespace offhook::hostsim
