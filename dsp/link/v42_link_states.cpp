// SPDX-License-Identifier: MIT
// The states of a link and what moves it from one to another: unnumbered frames, and timers that expire.
#include "dsp/link/v42_link.h"

namespace offhook::v42 {
namespace {

using Guard = bool (*)(const Link&, const Frame&);
using Action = void (*)(Link&, const Frame&);

// Guards.
bool answerer(const Link& l, const Frame&) {
  return !l.originator();
}
bool originator(const Link& l, const Frame&) {
  return l.originator();
}
bool ua_was_lost(const Link& l, const Frame&) {
  return !l.originator() && l.fresh;
}
bool no_pattern_seen(const Link& l, const Frame&) {
  return !l.pattern_seen;
}
bool seeks_mnp(const Link& l, const Frame&) {
  return l.originator() && l.wants_mnp() && !l.pattern_seen;
}
bool by_mnp(const Link& l, const Frame&) {
  return l.mnp.active;
}
bool confirmation_was_lost(const Link& l, const Frame&) {
  return l.mnp.active && l.originator() && l.fresh;
}
bool nothing_heard(const Link& l, const Frame&) {
  return l.mnp.active && !l.mnp.heard;
}
bool final(const Link&, const Frame& f) {
  return f.pf;
}
bool answers_sabme(const Link& l, const Frame& f) {
  return f.pf && l.originator() && !l.sabme_due;
}
bool refuses_sabme(const Link& l, const Frame& f) {
  return f.pf && l.originator();
}
bool refuses_link(const Link& l, const Frame& f) {  // Table 9
  return !f.pf || l.recovery;
}

// Actions.
template <uint8_t frame>
void reply(Link& l, const Frame& f) {
  l.answer = frame;
  l.answer_f = f.pf;
}
template <oh_lapm_cause cause>
void fail(Link& l, const Frame&) {
  l.fail(cause);
}
template <oh_lapm_state state>
void enter(Link& l, const Frame&) {
  l.set_state(state);
}
template <bool Link::*due>
void make_due(Link& l, const Frame&) {
  l.*due = true;
}
void connect(Link& l, const Frame&) {
  l.enter_connected();
}
void accept(Link& l, const Frame& f) {
  l.framing = true;  // any remainder of this end's pattern
  l.status.fcs32 = f.fcs32;
  reply<kUa>(l, f);
  l.enter_connected();
}
void accept_again(Link& l, const Frame& f) {
  reply<kUa>(l, f);
  l.enter_connected();
}
void release(Link& l, const Frame& f) {
  reply<kUa>(l, f);
  l.set_state(OH_LAPM_DISCONNECTED);
}
void violate(Link& l, const Frame&) {
  ++l.status.violations;
}
void establish(Link& l, const Frame&) {
  l.establish();
}
void wait_on(Link& l, const Frame&) {
  l.t401.start(l.t401_samples);
}
void xid(Link& l, const Frame& f) {
  l.receive_xid(f);
}
void brk(Link& l, const Frame& f) {
  l.receive_break(f);
}
void test(Link& l, const Frame& f) {
  l.receive_test(f);
}
template <bool Mnp::*due>
void make_mnp_due(Link& l, const Frame&) {
  l.mnp.*due = true;
}
template <void (Link::*action)()>
void act(Link& l, const Frame&) {
  (l.*action)();
}
template <void (Link::*action)(const Frame&)>
void take(Link& l, const Frame& f) {
  (l.*action)(f);
}
template <MnpReason reason>
void end_mnp(Link& l, const Frame&) {
  l.end_mnp(reason);
}
void data_without_confirmation(Link& l, const Frame& f) {
  l.enter_data_phase();
  l.receive_transfer(f);
}
void count_attempt(Link& l, const Frame&) {
  l.t401_expired();
}
constexpr int kAny = -1;

/// Rows of the same event are tried from the top.
struct Transition {
  LinkEvent event;
  int state;  // enum oh_lapm_state, or kAny
  Guard guard;
  Action action;
  // The clause is in the row.
};
constexpr Transition kTransitions[] = {
    {LinkEvent::kSabme, OH_LAPM_CONNECTED, ua_was_lost, accept_again},                  // 8.4.9.1
    {LinkEvent::kSabme, OH_LAPM_CONNECTED, nullptr, fail<OH_LAPM_RESET>},               // 8.4.9
    {LinkEvent::kSabme, OH_LAPM_ESTABLISHMENT, answerer, accept},                       // 8.3.2.1
    {LinkEvent::kSabme, OH_LAPM_ESTABLISHMENT, nullptr, reply<kUa>},                    // 8.9.1: waits for its UA
    {LinkEvent::kSabme, OH_LAPM_DETECTION, answerer, accept},                           // 7.2.1.3
    {LinkEvent::kSabme, kAny, nullptr, reply<kDm>},                                     // 8.9.2, or unwilling
    {LinkEvent::kDisc, OH_LAPM_CONNECTED, nullptr, release},                            // 8.7
    {LinkEvent::kDisc, OH_LAPM_RELEASE, nullptr, reply<kUa>},                           // 8.9.1
    {LinkEvent::kDisc, kAny, nullptr, reply<kDm>},                                      // 8.8, 8.9.2
    {LinkEvent::kUa, OH_LAPM_ESTABLISHMENT, answers_sabme, connect},                    // 8.3.2.1
    {LinkEvent::kUa, OH_LAPM_RELEASE, final, enter<OH_LAPM_DISCONNECTED>},              // 8.7
    {LinkEvent::kUa, kAny, nullptr, violate},                                           // Table 9
    {LinkEvent::kDm, OH_LAPM_RELEASE, final, enter<OH_LAPM_DISCONNECTED>},              // 8.7
    {LinkEvent::kDm, OH_LAPM_ESTABLISHMENT, refuses_sabme, fail<OH_LAPM_REFUSED>},      // 8.3.2.1
    {LinkEvent::kDm, OH_LAPM_CONNECTED, refuses_link, fail<OH_LAPM_REFUSED>},           // Table 9
    {LinkEvent::kDm, OH_LAPM_CONNECTED, nullptr, violate},                              // Table 9
    {LinkEvent::kFrmr, OH_LAPM_CONNECTED, nullptr, fail<OH_LAPM_FRAME_REJECTED>},       // 8.5.6
    {LinkEvent::kXid, kAny, nullptr, xid},                                              // 8.10
    {LinkEvent::kUi, OH_LAPM_CONNECTED, nullptr, brk},                                  // 8.13
    {LinkEvent::kTest, OH_LAPM_CONNECTED, nullptr, test},                               // 8.11
    {LinkEvent::kUndefined, OH_LAPM_CONNECTED, nullptr, fail<OH_LAPM_FRAME_REJECTED>},  // 8.5.5
    {LinkEvent::kT400, OH_LAPM_DETECTION, seeks_mnp, act<&Link::request_link>},         // 7.2.1.1, A.7.1.2
    {LinkEvent::kT400, kAny, no_pattern_seen, enter<OH_LAPM_UNSUPPORTED>},              // 7.2.1.1
    {LinkEvent::kT400, OH_LAPM_DETECTION, answerer, make_due<&Link::pattern_enough>},   // III.1 specifies no end
    {LinkEvent::kN400, OH_LAPM_NEGOTIATION, nothing_heard, act<&Link::give_up_mnp>},    // A.7.2.2
    {LinkEvent::kN400, OH_LAPM_CONNECTED, by_mnp, end_mnp<kNotAcknowledged>},           // A.7.3.5
    {LinkEvent::kN400, kAny, by_mnp, end_mnp<kNoLinkRequest>},                          // A.7.1.4
    {LinkEvent::kN400, OH_LAPM_NEGOTIATION, nullptr, establish},                        // III.3: the defaults suffice
    {LinkEvent::kN400, OH_LAPM_RELEASE, nullptr, enter<OH_LAPM_DISCONNECTED>},          // 8.7
    {LinkEvent::kN400, kAny, nullptr, fail<OH_LAPM_NO_ANSWER>},                         // 8.4.8
    {LinkEvent::kT401, OH_LAPM_CONNECTED, by_mnp, act<&Link::repeat_frames>},           // A.7.3.5
    {LinkEvent::kT401, OH_LAPM_RELEASE, by_mnp, enter<OH_LAPM_DISCONNECTED>},           // A.7.2.1
    {LinkEvent::kT401, kAny, by_mnp, make_mnp_due<&Mnp::request_due>},                  // A.7.1.2, A.7.1.3
    {LinkEvent::kT401, OH_LAPM_NEGOTIATION, nullptr, make_due<&Link::xid_due>},         // 8.10
    {LinkEvent::kT401, OH_LAPM_ESTABLISHMENT, originator, make_due<&Link::sabme_due>},  // 8.3.2.1
    {LinkEvent::kT401, OH_LAPM_ESTABLISHMENT, nullptr, wait_on},                        // until N400
    {LinkEvent::kT401, OH_LAPM_RELEASE, nullptr, make_due<&Link::disc_due>},            // 8.7
    {LinkEvent::kT401, OH_LAPM_CONNECTED, nullptr, make_due<&Link::poll_due>},          // 8.4.8
    {LinkEvent::kLr, OH_LAPM_DETECTION, answerer, take<&Link::answer_request>},         // A.7.1.3
    {LinkEvent::kLr, OH_LAPM_ESTABLISHMENT, answerer, take<&Link::answer_request>},     // A.7.1.3 c)
    {LinkEvent::kLr, OH_LAPM_NEGOTIATION, by_mnp, take<&Link::confirm_answer>},         // A.7.1.2
    {LinkEvent::kLr, OH_LAPM_CONNECTED, confirmation_was_lost, make_mnp_due<&Mnp::confirm_due>},  // A.7.1.3 c)
    {LinkEvent::kLa, OH_LAPM_ESTABLISHMENT, by_mnp, act<&Link::enter_data_phase>},                // A.7.1.3
    {LinkEvent::kLa, OH_LAPM_CONNECTED, by_mnp, take<&Link::receive_acknowledgement>},            // A.7.3.4
    {LinkEvent::kLt, OH_LAPM_ESTABLISHMENT, by_mnp, data_without_confirmation},                   // the LA was lost
    {LinkEvent::kLt, OH_LAPM_CONNECTED, by_mnp, take<&Link::receive_transfer>},                   // A.7.3.2
    {LinkEvent::kLn, OH_LAPM_CONNECTED, by_mnp, take<&Link::receive_attention>},                  // A.7.4
    {LinkEvent::kLna, OH_LAPM_CONNECTED, by_mnp, take<&Link::attention_answered>},                // A.7.4
    {LinkEvent::kLd, OH_LAPM_CONNECTED, by_mnp, enter<OH_LAPM_DISCONNECTED>},                     // A.7.2
    {LinkEvent::kLd, OH_LAPM_RELEASE, by_mnp, enter<OH_LAPM_DISCONNECTED>},                       // A.7.2
    {LinkEvent::kLd, OH_LAPM_NEGOTIATION, by_mnp, fail<OH_LAPM_REFUSED>},                         // A.7.1.4
    {LinkEvent::kLd, OH_LAPM_ESTABLISHMENT, by_mnp, fail<OH_LAPM_REFUSED>},                       // A.7.1.4
    {LinkEvent::kDamaged, OH_LAPM_NEGOTIATION, by_mnp, count_attempt},                            // A.7.1.2
    {LinkEvent::kDamaged, OH_LAPM_ESTABLISHMENT, by_mnp, count_attempt},                          // A.7.1.3 b)
};

LinkEvent event_of(const Frame& f) {
  switch (f.control & ~kUnnumberedPf) {
    case kSabme:
      return f.command ? LinkEvent::kSabme : LinkEvent::kUndefined;
    case kDisc:
      return f.command ? LinkEvent::kDisc : LinkEvent::kUndefined;
    case kUa:
      return f.command ? LinkEvent::kUndefined : LinkEvent::kUa;
    case kDm:
      return f.command ? LinkEvent::kUndefined : LinkEvent::kDm;
    case kFrmr:
      return f.command ? LinkEvent::kUndefined : LinkEvent::kFrmr;
    case kTestFrame:
      return f.command ? LinkEvent::kTest : LinkEvent::kUndefined;
    case kXidFrame:
      return LinkEvent::kXid;
    case kUi:
      return LinkEvent::kUi;
    default:
      return LinkEvent::kUndefined;
  }
}

}  // namespace

void Link::fire(LinkEvent event, const Frame& f) {
  for (const Transition& t : kTransitions) {
    if (t.event != event || (t.state != kAny && t.state != int(status.state))) continue;
    if (t.guard != nullptr && !t.guard(*this, f)) continue;
    t.action(*this, f);
    return;
  }
}

void Link::receive_unnumbered(const Frame& f) {
  const uint8_t type = uint8_t(f.control & ~kUnnumberedPf);
  const bool empty = type == kSabme || type == kDisc || type == kUa || type == kDm;
  if (empty && f.n != 0) {  // 8.2.4.12 b)
    if (connected()) fail(OH_LAPM_FRAME_REJECTED);
    return;
  }
  fire(event_of(f), f);
}

uint16_t Link::attempts_allowed() const {
  constexpr uint16_t kLinkRequests = 2;  // A.7.1.2: a far end without MNP gets no more of them
  constexpr uint16_t kN400 = 12;         // A.7.5.5
  if (!mnp.active) return config.n400;
  return status.state == OH_LAPM_NEGOTIATION && !mnp.heard ? kLinkRequests : kN400;
}

void Link::t401_expired() {
  ++status.timeouts;
  if (connected() && !recovery && !mnp.active) {  // 8.4.8
    recovery = true;
    attempts = 0;
  } else if (++attempts >= attempts_allowed()) {
    fire(LinkEvent::kN400, Frame{});
    return;
  }
  fire(LinkEvent::kT401, Frame{});
}

}  // namespace offhook::v42
