// SPDX-License-Identifier: MIT
// The alternative procedure of a link, MNP: what it sends and what received frames do. The clauses are those of Annex A
// of V.42 (03/93 and 10/96); docs/mnp.md says which of them are known only through descriptions.
#include "dsp/link/v42_link.h"

namespace offhook::v42 {
namespace {

constexpr uint8_t kLevel = 2;  // A.7.1.5.1
constexpr uint8_t kHighestClass = 5;
constexpr uint8_t kSlots = kModulus;     // of `sent`; no window is longer
constexpr size_t kFcs16 = 2;             // octets
constexpr uint32_t kRoundTripMs = 1500;  // as LAPM's T401: 1.2 s, and the delays of both ends

// A.6.5.2: types of a break, and octet 2 of LAPM's message (12.3.1)
enum Attention : uint8_t { kDestructive = 1, kExpedited = 2, kInSequence = 3 };
constexpr uint8_t kDiscard = 0x80, kExpedite = 0x40;

uint8_t slot_of(uint8_t ns) {
  return ns % kSlots;
}

bool take(bool& due) {
  const bool was = due;
  due = false;
  return was;
}

Attention attention_of(uint8_t handling) {
  return handling & kDiscard ? kDestructive : handling & kExpedite ? kExpedited : kInSequence;
}

uint8_t class_of(const LinkRequest& r) {
  return r.compression != 0 ? 5 : r.optimization != 0 ? 4 : r.framing == kBitOriented ? 3 : 2;
}

// 256 octets, unless the far end limits its own to fewer than those of classes 2 and 3.
uint16_t field_of(const LinkRequest& r) {
  return r.optimization & kLongInformation && r.n401 >= kShortField ? kLongField : r.n401;
}

LinkRequest offer(const oh_link_config& config, uint8_t k) {
  const uint32_t highest = config.mnp_class == 0 ? kHighestClass : config.mnp_class;
  LinkRequest r;
  r.framing = highest >= 3 ? kBitOriented : kStartStop;
  r.k = k;
  r.optimization = highest >= 4 ? kLongInformation | kFixedFields : 0;
  r.compression = permits_mnp5(config) ? kClass5 : 0;
  return r;
}

LinkEvent event_of(MnpType type) {
  switch (type) {
    case kLinkRequest:
      return LinkEvent::kLr;
    case kLinkDisconnect:
      return LinkEvent::kLd;
    case kLinkTransfer:
      return LinkEvent::kLt;
    case kLinkAcknowledgement:
      return LinkEvent::kLa;
    case kLinkAttention:
      return LinkEvent::kLn;
    case kLinkAttentionAnswer:
      return LinkEvent::kLna;
  }
  return LinkEvent::kUndefined;
}

}  // namespace

// A.7.5.1: half a window, and its acknowledgement, in both directions. Before the link exists, two link requests.
uint32_t Link::mnp_t401_ms() const {
  const bool flags = mnp.agreed.framing == kBitOriented && connected();
  const bool fixed = mnp.agreed.optimization & kFixedFields;
  const uint32_t around = flags ? 4 : 7, transfer = fixed ? 3 : 5, acknowledgement = fixed ? 4 : 8;  // octets
  const uint32_t half = status.k_tx > 1 ? status.k_tx / 2u : 1u;
  const uint64_t octets =
      connected() ? half * (around + transfer + status.n401_tx) + around + acknowledgement : around + kMaxMnpHeader;
  const uint64_t bits = flags ? octets * 8 * 6 / 5 : octets * 10;
  return uint32_t(bits * 1000 / tx_bit_rate + bits * 1000 / rx_bit_rate) + kRoundTripMs;
}

// A.7.1.2
void Link::request_link() {
  mnp.active = mnp.request_due = true;
  mnp.agreed = offer(config.link, k);
  attempts = 0;
  update_t401();
  set_state(OH_LAPM_NEGOTIATION);
}

// A.7.1.3, A.7.1.5
void Link::answer_request(const Frame& f) {
  LinkRequest theirs;
  if (!read_link_request(*f.mnp, &theirs)) return;
  mnp.agreed = common(offer(config.link, k), theirs);
  if (!mnp.active) mnp.sender.pause();
  mnp.active = mnp.heard = true;
  if (theirs.level != kLevel || !theirs.valid()) {
    refuse_link(theirs.level != kLevel ? kUnknownLevel : kBadParameter);
    return;
  }
  mnp.request_due = true;
  update_t401();
  if (status.state == OH_LAPM_ESTABLISHMENT) return;
  attempts = 0;
  set_state(OH_LAPM_ESTABLISHMENT);
}

// The answerer's values hold for both ends.
void Link::confirm_answer(const Frame& f) {
  LinkRequest theirs;
  if (!read_link_request(*f.mnp, &theirs)) return;
  if (theirs.level != kLevel || !theirs.valid()) {
    refuse_link(theirs.level != kLevel ? kUnknownLevel : kBadParameter);
    return;
  }
  mnp.agreed = common(mnp.agreed, theirs);
  mnp.request_due = false;
  mnp.confirm_due = true;
  enter_data_phase();
}

void Link::refuse_link(MnpReason reason) {
  mnp.disconnect_due = true;
  mnp.reason = reason;
  fail(OH_LAPM_REFUSED);
}

// A.7.3; the values of A.6.3. The originator's HDLC frames begin after its confirmation.
void Link::enter_data_phase() {
  status.mnp_class = class_of(mnp.agreed);
  if (mnp.agreed.compression != 0) {
    status.compression = OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED;
    compression.start(status);
  }
  status.n401_tx = status.n401_rx = field_of(mnp.agreed);
  status.k_tx = status.k_rx = mnp.agreed.k;
  mnp.credit = mnp.agreed.k;
  mnp.field = status.n401_tx;
  mnp.bit_oriented = !originator() && mnp.agreed.framing == kBitOriented;
  mnp.request_due = false;
  vs = va = vr = next = 1;
  mnp.attention_tx = mnp.attention_rx = 1;
  framed = out.tail;
  fresh = true;
  attempts = 0;
  t401.stop();
  set_state(OH_LAPM_CONNECTED);
  update_t401();
  start_t404();
  update_busy();
}

// A.7.5.4
void Link::start_t404() {
  mnp.t404.start(samples(tx_bit_rate > 1200 ? 3000 : 7000));
}

// A.7.2.2: nothing is said to a far end without the protocol.
void Link::give_up_mnp() {
  if (++mnp.rounds >= config.detections) {
    set_state(OH_LAPM_UNSUPPORTED);
    return;
  }
  if (wants_v42()) set_state(OH_LAPM_DETECTION);
  start_detection();
  update_t401();
}

void Link::end_mnp(MnpReason reason) {
  mnp.disconnect_due = true;
  mnp.reason = reason;
  fail(OH_LAPM_NO_ANSWER);
}

void Link::advance_mnp(uint32_t n) {
  const bool late = mnp.t402.advance(n), silent = mnp.t404.advance(n);
  if (late || silent) mnp.acknowledgement_due = true;
}

// Both framings are tried until the first frame of the data phase shows that the confirmation arrived.
void Link::put_mnp_bit(int bit) {
  const bool flags = mnp.active && mnp.agreed.framing == kBitOriented;
  const bool phase = connected() || status.state == OH_LAPM_ESTABLISHMENT;
  if (!flags || !connected() || fresh) {
    const OctetFrameReceiver::Result result = mnp.receiver.put(bit);
    if (result == OctetFrameReceiver::kFrame) receive_mnp(mnp.receiver.data(), mnp.receiver.size());
    if (result == OctetFrameReceiver::kBadFrame && mnp.active && !(flags && connected())) {
      ++status.bad_frames;
      notify(OH_LAPM_EVENT_BAD_FRAME, status.bad_frames);
      mnp.heard = true;
      fire(LinkEvent::kDamaged, Frame{});
    }
  }
  if (!flags || !phase) return;
  const HdlcReceiver::Result result = receiver.put(bit);
  if (result == HdlcReceiver::kFrame && receiver.fcs16() && !receiver.oversize()) {
    receive_mnp(receiver.data(), receiver.size() - kFcs16);
  } else if (result >= HdlcReceiver::kFrame && connected() && !fresh) {
    ++status.bad_frames;
    notify(OH_LAPM_EVENT_BAD_FRAME, status.bad_frames);
  }
}

void Link::receive_mnp(const uint8_t* frame, size_t n) {
  MnpHeader header;
  if (!read_header(frame, n, &header)) return;
  ++status.frames_received;
  mnp.heard = mnp.heard || mnp.active;
  Frame f{};
  f.mnp = &header;
  fire(event_of(header.type), f);
}

// A.7.3.2
void Link::receive_transfer(const Frame& f) {
  const MnpHeader& h = *f.mnp;
  if (h.n == 0 || h.n > status.n401_rx) return;  // A.5
  ++status.i_frames_received;
  fresh = false;
  if (h.first == vr && !busy()) {
    deliver(h.info, h.n);
    ++vr;
    ++mnp.received;
    mnp.repeated_last = false;
    if (!mnp.t402.running()) mnp.t402.start(t401_samples / 2);  // A.7.5.2
    update_busy();
    return;
  }
  const bool before = uint8_t(vr - h.first - 1u) < kSlots;
  status.duplicates += before;
  if (before && uint8_t(h.first + 1u) == vr && !mnp.repeated_last) {
    mnp.repeated_last = true;
  } else {
    mnp.acknowledgement_due = true;
  }
}

// A.7.3.4, A.7.3.5. The number of the newest frame again reports a loss. Each frame that was on its way then reports it
// once more.
void Link::receive_acknowledgement(const Frame& f) {
  const uint8_t nr = f.mnp->first, nk = f.mnp->second;
  const uint8_t n = uint8_t(nr + 1u - va), outstanding = uint8_t(vs - va);
  if (n > outstanding) {  // older than the newest one
    ++status.violations;
    return;
  }
  fresh = false;
  const bool reopened = mnp.credit == 0 && nk > 0;
  mnp.credit = nk < mnp.agreed.k ? nk : mnp.agreed.k;
  status.far_busy = nk == 0;
  if (n > 0) {
    if (uint8_t(next - va) < n) next = uint8_t(nr + 1u);
    for (uint8_t i = 0; i < n; ++i) retire(slot_of(va++));
    attempts = 0;
    mnp.stale = 0;
    t401.stop();
    if (va != vs) t401.start(t401_samples);
    mnp.good = uint16_t(mnp.good + n);
    if (mnp.good >= mnp.agreed.k && mnp.field < status.n401_tx) {
      mnp.field = mnp.field * 2 < status.n401_tx ? uint16_t(mnp.field * 2) : status.n401_tx;
      mnp.good = 0;
    }
  } else if (mnp.stale > 0 && !reopened) {
    --mnp.stale;
  } else if (outstanding > 0) {
    const uint8_t sent_since = uint8_t(next - va);  // the lost one, and the one that reported it
    repeat_frames();
    mnp.stale = sent_since > 2 ? uint8_t(sent_since - 2) : uint8_t(0);
  }
  if (mnp.credit == 0) t401.stop();  // the far end acknowledges again when T404 expires there
}

// Go back to the oldest frame that is not acknowledged. Shorter frames are more likely to arrive.
void Link::repeat_frames() {
  next = va;
  mnp.stale = 0;
  mnp.good = 0;
  if (mnp.field > kShortField) mnp.field = mnp.field / 2 > kShortField ? uint16_t(mnp.field / 2) : kShortField;
  t401.stop();
  if (va != vs) notify(OH_LAPM_EVENT_RETRANSMIT, uint8_t(vs - va));
}

// A.7.4
void Link::receive_attention(const Frame& f) {
  fresh = false;
  const uint8_t type = f.mnp->second;
  if (f.mnp->first == mnp.attention_rx) {
    ++mnp.attention_rx;
    notify(OH_LAPM_EVENT_BREAK, uint32_t(type == kDestructive ? kDiscard | kExpedite
                                         : type == kExpedited ? kExpedite
                                                              : 0)
                                    << 8);
  }
  mnp.attention = f.mnp->first;
  mnp.attention_answer_due = true;
}

void Link::attention_answered(const Frame& f) {
  if (!break_pending || f.mnp->first != mnp.attention_tx) return;
  ++mnp.attention_tx;
  break_pending = break_due = false;
  t401_break.stop();
  notify(OH_LAPM_EVENT_BREAK_DONE, 0);
}

// The establishment uses start-stop characters in any case (A.6.4).
int Link::next_mnp_bit() {
  if (mnp.sender.ready() && (!mnp.bit_oriented || sender.ready())) {
    const bool flags = mnp.bit_oriented && !mnp.confirm_due;
    const size_t n = compose_mnp(sender.buffer());
    if (n > 0) {
      ++status.frames_sent;
      if (flags) {
        sender.load(n, false);
      } else {
        if (fresh) mnp.sender.pause();
        mnp.sender.load(n);
      }
    }
  }
  return mnp.bit_oriented && mnp.sender.ready() ? sender.next() : mnp.sender.next();
}

size_t Link::compose_mnp(uint8_t* f) {
  const bool fixed = mnp.agreed.optimization & kFixedFields;
  if (take(mnp.request_due)) {
    t401.start(t401_samples);
    return write_link_request(mnp.agreed, f);
  }
  if (take(mnp.disconnect_due)) {
    if (status.state == OH_LAPM_RELEASE) t401.start(samples(kMaxMnpHeader * 10 * 1000 / tx_bit_rate));  // it passes
    return write_header(kLinkDisconnect, mnp.reason, 0, false, f);
  }
  if (!connected()) return 0;
  if (take(mnp.confirm_due)) {
    mnp.bit_oriented = mnp.agreed.framing == kBitOriented;
    return write_header(kLinkAcknowledgement, 0, mnp.agreed.k, fixed, f);  // A.6.4.2
  }
  if (take(mnp.attention_answer_due)) return write_header(kLinkAttentionAnswer, mnp.attention, 0, false, f);
  if (acknowledgement_waits()) return compose_acknowledgement(f);
  size_t n = compose_attention(f);
  if (n == 0) n = compose_transfer(f);
  return n == 0 && mnp.received > 0 ? compose_acknowledgement(f) : n;
}

// A.7.3.3. The far end must not wait, neither for credit nor for the second half of its window.
bool Link::acknowledgement_waits() const {
  return mnp.acknowledgement_due || ready_due || (mnp.received > 0 && mnp.received >= status.k_rx / 2);
}

size_t Link::compose_acknowledgement(uint8_t* f) {
  const uint32_t room = in.free() / status.n401_rx;
  const uint8_t credit = busy() ? 0 : room < status.k_rx ? uint8_t(room) : status.k_rx;
  mnp.acknowledgement_due = ready_due = false;
  mnp.received = 0;
  mnp.t402.stop();
  start_t404();
  return write_header(kLinkAcknowledgement, uint8_t(vr - 1u), credit, mnp.agreed.optimization & kFixedFields, f);
}

size_t Link::compose_attention(uint8_t* f) {
  const Attention type = attention_of(break_handling);
  if (!break_due || (type == kInSequence && va != vs)) return 0;
  break_due = false;
  t401_break.start(t401_samples);
  return write_header(kLinkAttention, mnp.attention_tx, type, false, f);
}

// A.7.3.1. A break in sequence stops new frames until it is answered.
size_t Link::compose_transfer(uint8_t* f) {
  if (uint8_t(next - va) >= mnp.credit) return 0;
  if (next == vs) {
    const uint32_t most = config.link.mnp_block == 0 ? kLongField : config.link.mnp_block;
    if (break_pending && attention_of(break_handling) == kInSequence) return 0;
    if (!cut(slot_of(vs), mnp.field < most ? mnp.field : most)) return 0;
    ++vs;
  } else {
    ++status.retransmitted;
  }
  const uint8_t ns = next++, slot = slot_of(ns);
  const size_t n = write_header(kLinkTransfer, ns, 0, mnp.agreed.optimization & kFixedFields, f);
  out.copy(sent[slot].from, f + n, sent[slot].n);
  ++status.i_frames_sent;
  if (!t401.running()) t401.start(t401_samples);
  return n + sent[slot].n;
}

}  // namespace offhook::v42
