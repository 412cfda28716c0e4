// SPDX-License-Identifier: MIT
// What received bits and frames do to a link.
#include "dsp/blocks/packed_bits.h"
#include "dsp/link/v42_link.h"

namespace offhook::v42 {
namespace {

// 9.2.3, 9.2.4: the responder's permitted values are between the initiator's value and the default.
template <class T>
T between(T wanted, T offered, T by_default) {
  const T low = offered < by_default ? offered : by_default, high = offered < by_default ? by_default : offered;
  return wanted < low ? low : wanted > high ? high : wanted;
}

// V.42bis' P0 uses the initiator's directions, V.44's the sender's; this link uses the sent and the received one.
uint8_t swapped(uint8_t directions) {
  return uint8_t((directions & 1) << 1 | directions >> 1);
}

oh_v44_parameters smaller(const oh_v44_parameters& ours, const v44::Parameters& theirs) {
  return {ours.codewords < theirs.codewords ? ours.codewords : theirs.codewords,
          ours.history < theirs.history ? ours.history : theirs.history,
          ours.max_string < theirs.max_string ? ours.max_string : theirs.max_string};
}
static_assert(kFromInitiator == OH_LAPM_COMPRESS_SENT && kToInitiator == OH_LAPM_COMPRESS_RECEIVED);

}  // namespace

void Link::put_bits(const uint8_t* octets, size_t n) {
  unpack_bits(octets, n, [this](int bit) { put_bit(bit); });
}

void Link::put_bit(int bit) {
  if (wants_mnp() && (mnp.active || !connected())) put_mnp_bit(bit);
  if (mnp.active || !wants_v42()) return;
  if (status.state == OH_LAPM_DETECTION) {
    const PatternReceiver::Result seen = pattern_receiver.put(bit);
    if (originator() && seen == PatternReceiver::kAnswerer) pattern_seen = true;
    if (originator() && seen == PatternReceiver::kRefused) set_state(OH_LAPM_UNSUPPORTED);
    if (!originator() && seen == PatternReceiver::kOriginator && !pattern_seen) {
      pattern_seen = true;
      t400.start(samples(config.t400_ms));  // 9.1.1: it limited the wait; from here on it limits the repetition (III.1)
    }
  }
  switch (receiver.put(bit)) {
    case HdlcReceiver::kNothing:
      break;
    case HdlcReceiver::kFlag:
      if (receiver.flags() >= 4) note_framing();
      break;
    case HdlcReceiver::kBadFrame:
      if (!framing) break;
      ++status.bad_frames;
      notify(OH_LAPM_EVENT_BAD_FRAME, status.bad_frames);
      break;
    case HdlcReceiver::kFrame: {
      // 8.10.2: both check sequences are tried until the SABME shows which one it is.
      const bool fcs32 = connected() || status.state == OH_LAPM_RELEASE
                             ? status.fcs32
                             : receiver.fcs32() && (fcs32_agreed || status.fcs32);
      if (fcs32 ? !receiver.fcs32() : !receiver.fcs16()) {
        ++status.bad_frames;
        notify(OH_LAPM_EVENT_BAD_FRAME, status.bad_frames);
        break;
      }
      const size_t fcs = fcs32 ? 4 : 2;
      if (receiver.size() >= fcs + 2) receive(receiver.data(), receiver.size() - fcs, receiver.oversize(), fcs32);
      break;
    }
  }
}

// The start of the protocol phase: an answerer that never saw the pattern begins it, too (7.2.1.3); an answer to the
// pattern shows that it was understood (III.1).
void Link::note_framing() {
  if (status.state != OH_LAPM_DETECTION || originator()) return;
  pattern_enough = true;
  if (!pattern_seen) start_framing();
}

void Link::receive(const uint8_t* frame, size_t n, bool oversize, bool fcs32) {
  // 8.1.3 e): two octets of address, or an unknown connection
  if ((frame[0] & ~2) != 1) return;
  Frame f;
  f.command = frame[0] == response_address();  // Table 6: its command has the C/R bit of this end's response
  f.control = frame[1];
  const bool numbered = (f.control & 3) != 3;
  if (numbered && n < 3) return;
  ++status.frames_received;
  note_framing();
  f.pf = numbered ? frame[2] & 1 : f.control & kUnnumberedPf;
  f.nr = numbered ? uint8_t(frame[2] >> 1) : uint8_t(0);
  f.fcs32 = fcs32;
  f.info = frame + (numbered ? 3 : 2);
  f.n = n - (numbered ? 3 : 2);
  if (oversize || f.n > config.n401) {  // 8.2.4.12 d)
    if (connected()) fail(OH_LAPM_FRAME_REJECTED);
    return;
  }
  if (!numbered) {
    receive_unnumbered(f);
    return;
  }
  // 8.3.2.1: the UA was lost, but the connection exists
  if (status.state == OH_LAPM_ESTABLISHMENT && originator() && !sabme_due) enter_connected();
  if (!connected()) return;
  if (!t401.running()) start_t403();
  if (f.control & 1) {
    receive_supervisory(f);
  } else if (f.command) {
    receive_information(f, uint8_t(f.control >> 1));
  } else {
    fail(OH_LAPM_FRAME_REJECTED);
  }
}

// 8.4.3.2.  @return false if the link was terminated
bool Link::acknowledge(uint8_t nr) {
  const uint8_t n = distance(va, nr), outstanding = distance(va, vs);
  if (n > outstanding) {
    fail(OH_LAPM_BAD_NR);
    return false;
  }
  if (n == 0) return true;
  if (distance(va, next) < n) next = nr;
  for (; va != nr; va = modulo(va + 1u)) {
    retire(va);
    again.remove(va);
  }
  if (!recovery) {
    if (va != vs) {
      t401.start(t401_samples);
    } else {
      t401.stop();
      start_t403();
    }
  }
  return true;
}

// The oldest frame has arrived.
void Link::retire(uint8_t slot) {
  status.bytes_sent += sent[slot].user;
  status.octets_sent += sent[slot].n;
  out.tail += sent[slot].n;
}

// Sends everything from nr on again.
void Link::go_back(uint8_t nr) {
  next = nr;
  again.clear();
  if (next != vs) notify(OH_LAPM_EVENT_RETRANSMIT, distance(next, vs));
}

void Link::deliver(const uint8_t* bytes, size_t n) {
  in.put(bytes, uint32_t(n));
  status.octets_delivered += n;
  if (!(status.compression & OH_LAPM_COMPRESS_RECEIVED)) status.bytes_delivered += n;
}

void Link::advance_vr() {
  asked.remove(vr);
  to_ask.remove(vr);
  vr = modulo(vr + 1u);
  held_base = uint8_t((held_base + 1) % k);
}

// 8.5.1: the requested frame `ns` has come, so the frames before it that were requested earlier were sent again, too.
// The missing ones were lost once more. If the far end sends requested frames in another order, some come twice.
void Link::ask_again_before(uint8_t ns) {
  for (uint8_t missing = vr; missing != ns; missing = modulo(missing + 1u)) {
    if (int16_t(asked_at[ns] - asked_at[missing]) > 0) asked.remove(missing);
  }
}

void Link::receive_information(const Frame& f, uint8_t ns) {
  ++status.i_frames_received;
  if (f.n > status.n401_rx) {
    fail(OH_LAPM_FRAME_REJECTED);
    return;
  }
  if (!acknowledge(f.nr)) return;
  (f.pf ? final_due : ack_due) = true;
  fresh = false;
  if (busy()) return;  // 8.4.7: discarded
  const uint8_t ahead = distance(vr, ns);
  if (ahead >= status.k_rx) {
    ++status.duplicates;
    return;
  }
  if (ahead == 0) {
    deliver(f.info, f.n);
    advance_vr();
    while (holding.has(vr)) {
      deliver(slot(0), held_n[vr]);
      holding.remove(vr);
      advance_vr();
    }
    rejecting = reject_due = false;
    update_busy();
    return;
  }
  if (!status.srej) {
    // 8.5.1: one REJ. Another one if the far end has obviously gone back and the frame is still missing
    if (!rejecting || ahead <= reject_distance) reject_due = true;
    rejecting = true;
    reject_distance = ahead;
    return;
  }
  if (asked.has(ns)) ask_again_before(ns);
  if (holding.has(ns)) {
    ++status.duplicates;
  } else if (in.free() >= (ahead + 1u) * status.n401_rx) {  // room for held frames must exist at delivery
    uint8_t* to = slot(ahead);
    for (size_t i = 0; i < f.n; ++i) to[i] = f.info[i];
    held_n[ns] = uint16_t(f.n);
    holding.add(ns);
    asked.remove(ns);
    to_ask.remove(ns);
  }
  for (uint8_t missing = vr; missing != ns; missing = modulo(missing + 1u)) {
    if (!holding.has(missing) && !asked.has(missing)) to_ask.add(missing);
  }
}

void Link::receive_supervisory(const Frame& f) {
  if (f.n != 0 || (f.control & 0xF0)) {  // 8.2.4.12 b); m-SREJ is not offered
    fail(OH_LAPM_FRAME_REJECTED);
    return;
  }
  if (f.control == kSrej) {
    ++status.srej_received;
    if (!status.srej || (f.pf && !f.command)) {  // 8.4.5.1; Table 9
      fail(OH_LAPM_FRAME_REJECTED);
    } else if (distance(va, f.nr) >= distance(va, vs)) {
      ++status.violations;  // already acknowledged: an acknowledgement overtook this SREJ
    } else {
      again.add(f.nr);
      status.far_busy = false;
      if (!recovery) t401.start(t401_samples);
      notify(OH_LAPM_EVENT_RETRANSMIT, 1);
    }
    return;
  }
  if (!acknowledge(f.nr)) return;
  const bool was_busy = status.far_busy;
  status.far_busy = f.control == kRnr;
  status.rnr_received += f.control == kRnr;
  status.rej_received += f.control == kRej;
  if (f.command && f.pf) final_due = true;
  const bool final = !f.command && f.pf;
  if (final && recovery) {  // 8.4.8: the answer to this end's enquiry
    recovery = false;
    attempts = 0;
    poll_due = false;
    t401.stop();
    go_back(f.nr);
    if (!status.far_busy && va == vs) start_t403();
  } else {
    // Table 9 permits ignoring an unrequested F = 1; spandsp 0.0.6 always sets it, so its N(R) counts.
    if (final) ++status.violations;
    if (recovery) return;
    if (f.control == kRej) {  // 8.4.4
      t401.stop();
      start_t403();
      go_back(f.nr);
    } else if (was_busy && !status.far_busy) {
      go_back(f.nr);  // frames sent meanwhile were discarded (8.4.7)
    }
  }
  if (status.far_busy) t401.start(t401_samples);  // 8.4.6: enquire again when it expires
}

// 8.10, clauses 9 and 10. Directions in a frame are from its sender's view.
void Link::receive_xid(const Frame& f) {
  Xid xid;
  if (read_xid(f.info, f.n, &xid) != 0) {
    ++status.violations;
    return;
  }
  const bool wanted = f.command ? status.state == OH_LAPM_ESTABLISHMENT || status.state == OH_LAPM_DETECTION
                                : status.state == OH_LAPM_NEGOTIATION;
  if (wanted && !agree_on_compression(xid, f.command)) {
    fail(OH_LAPM_BAD_COMPRESSION);
    return;
  }
  const uint16_t n401_tx = xid.n401_tx ? xid.n401_tx : kDefaultN401, n401_rx = xid.n401_rx ? xid.n401_rx : kDefaultN401;
  const uint8_t k_tx = xid.k_tx ? xid.k_tx : kDefaultK, k_rx = xid.k_rx ? xid.k_rx : kDefaultK;
  if (f.command) {
    // During data, all traffic would have to stop first; no modem is known to do so.
    if (!wanted) {
      ++status.violations;
      return;
    }
    status.n401_rx = between(config.n401, n401_tx, kDefaultN401);
    status.n401_tx = between(config.n401, n401_rx, kDefaultN401);
    status.k_rx = between(k, k_tx, kDefaultK);
    status.k_tx = between(k, k_rx, kDefaultK);
    status.srej = xid.srej && config.srej;
    test_agreed = xid.test;
    fcs32_agreed = xid.fcs32 && config.fcs32;
    attempts = 0;
    xid_answer = Xid{};
    xid_answer.srej = status.srej;
    xid_answer.test = test_agreed;
    xid_answer.fcs32 = fcs32_agreed;
    xid_answer.n401_tx = status.n401_tx;
    xid_answer.n401_rx = status.n401_rx;
    xid_answer.k_tx = status.k_tx;
    xid_answer.k_rx = status.k_rx;
    // V.44 7.3: at most one of the two compressions
    xid_answer.v44 = status.v44;
    xid_answer.v44_directions = status.compression;
    xid_answer.v44_tx = parameters_of(status.v44_tx);
    xid_answer.v44_rx = parameters_of(status.v44_rx);
    xid_answer.v42bis = !status.v44 && xid.v42bis && config.link.compression != 0;
    xid_answer.compress = swapped(status.compression);
    xid_answer.codewords = status.codewords;
    xid_answer.max_string = status.max_string;
    xid_answer_due = true;
  } else if (wanted) {
    // If a responder chose more than was offered, the offer is used.
    status.n401_tx = between(n401_rx, config.n401, kDefaultN401);
    status.n401_rx = between(n401_tx, config.n401, kDefaultN401);
    status.k_tx = between(k_rx, k, kDefaultK);
    status.k_rx = between(k_tx, k, kDefaultK);
    status.srej = xid.srej && config.srej;
    test_agreed = xid.test;
    status.fcs32 = fcs32_agreed = xid.fcs32 && config.fcs32;
    establish();
  }
}

// V.44 if both ends want it in a direction, otherwise V.42bis.  @return false if the connection must end
bool Link::agree_on_compression(const Xid& theirs, bool far_end_initiates) {
  status.compression = 0;
  status.v44 = 0;
  if (theirs.v44 && config.link.v44 && !agree_on_v44(theirs)) return false;
  return status.v44 || !theirs.v42bis || !config.link.compression || agree_on_v42bis(theirs, far_end_initiates);
}

// V.44 7.4
bool Link::agree_on_v44(const Xid& theirs) {
  if (!theirs.v44_tx.valid() || !theirs.v44_rx.valid()) return false;
  status.compression = uint8_t(config.link.v44) & swapped(theirs.v44_directions);
  status.v44 = status.compression != 0;
  status.v44_tx = smaller(config.link.v44_tx, theirs.v44_rx);
  status.v44_rx = smaller(config.link.v44_rx, theirs.v44_tx);
  return true;
}

// V.42bis 5.1
bool Link::agree_on_v42bis(const Xid& theirs, bool far_end_initiates) {
  if (theirs.codewords < kMinCodewords || theirs.max_string < kMinString || theirs.max_string > kMaxString)
    return false;
  status.compression =
      uint8_t(config.link.compression) & (far_end_initiates ? swapped(theirs.compress) : theirs.compress);
  const oh_link_config& ours = config.link;
  status.codewords = uint16_t(theirs.codewords < ours.codewords ? theirs.codewords : ours.codewords);
  status.max_string = uint8_t(theirs.max_string < ours.max_string ? theirs.max_string : ours.max_string);
  return true;
}

// 8.11: this end's message returns, or the far end's is sent back.
void Link::receive_test(const Frame& f) {
  bool own = test_pending && f.n == test_n;
  for (size_t i = 0; own && i < f.n; ++i) own = f.info[i] == test[i];
  if (own) {
    test_pending = false;
    notify(OH_LAPM_EVENT_TEST_DONE, uint32_t(f.n));
  } else if (f.n <= kTestSize) {
    for (size_t i = 0; i < f.n; ++i) echo[i] = f.info[i];
    echo_n = uint8_t(f.n);
    echo_due = true;
  }
}

// 8.13.3
void Link::receive_break(const Frame& f) {
  const uint8_t message = f.n > 0 ? f.info[0] & 0x7F : 0;
  const bool number = f.n > 0 && (f.info[0] & 0x80);
  if (f.command && message == 0x40 && f.n >= 2) {
    if (number == vrb) {
      vrb = !vrb;
      notify(OH_LAPM_EVENT_BREAK, uint32_t(f.info[1]) << 8 | (f.n >= 3 ? f.info[2] : 0));
    }
    break_answer_due = true;
  } else if (!f.command && message == 0x60) {
    if (!break_pending || number == vsb) return;
    vsb = !vsb;
    break_pending = break_due = false;
    t401_break.stop();
    notify(OH_LAPM_EVENT_BREAK_DONE, 0);
  } else {
    ++status.violations;
  }
}

}  // namespace offhook::v42
