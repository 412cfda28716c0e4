// SPDX-License-Identifier: MIT
// Which frame goes next.
#include "dsp/blocks/packed_bits.h"
#include "dsp/link/v42_link.h"

namespace offhook::v42 {
namespace {

constexpr uint32_t kOpeningFlags = 16;    // 8.3.2.1 note 2, 8.10.2 note
constexpr uint32_t kAnswerPatterns = 10;  // 7.2.1.3; more of them until the originator sends flags (III.1)
// In characters: about 20 us of V.42bis; V.44 and MNP 5 (up to 250 us) depend on the text.
constexpr uint32_t kCompressAtOnce = 1024;

void copy(uint8_t* to, const uint8_t* from, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = from[i];
}

bool take(bool& due) {
  const bool was = due;
  due = false;
  return was;
}

}  // namespace

void Link::get_bits(uint8_t* octets, size_t n) {
  pack_bits(octets, n, [this] { return next_bit(); });
}

int Link::next_bit() {
  if (mnp.active && pattern_sender.between()) return next_mnp_bit();
  if (!framing) {
    if (status.state == OH_LAPM_DETECTION && pattern_sender.between()) {
      if (!originator() && pattern_seen && pattern_sender.repeats() == 0)
        pattern_sender.start(PatternSender::kAnswerer);
      const bool done = originator() ? pattern_seen : pattern_enough && pattern_sender.repeats() >= kAnswerPatterns;
      if (done) start_framing();
    }
    if (!framing) return pattern_sender.next();
  }
  if (sender.ready() && sender.flags() >= kOpeningFlags) {
    const size_t n = compose(sender.buffer());
    if (n > 0) {
      ++status.frames_sent;
      sender.load(n, status.fcs32);
    }
  }
  return sender.next();
}

// As many characters as fill a frame. If there are fewer, all of them (C-FLUSH), because the line would be idle
// otherwise.
void Link::fill_out() {
  const bool compress = status.compression & OH_LAPM_COMPRESS_SENT;
  uint8_t octets[Compression::kMaxStep];
  auto room = [&] { return out.head - framed < status.n401_tx && out.free() >= Compression::kMaxStep; };
  for (uint32_t i = 0; i < kCompressAtOnce && written.used() > 0 && room(); ++i) {
    uint32_t n = 0;
    const uint8_t c = *written.front(&n);
    ++written.tail;
    ++unframed_user;
    if (compress) {
      out.put(octets, uint32_t(compression.put(c, octets)));
    } else {
      out.put(&c, 1);
    }
  }
  if (compress && written.used() == 0 && room()) out.put(octets, uint32_t(compression.flush(octets)));
}

size_t Link::unnumbered(uint8_t* f, bool command, uint8_t control) const {
  f[0] = command ? command_address() : response_address();
  f[1] = control;
  return 2;
}

size_t Link::supervisory(uint8_t* f, bool command, uint8_t control, uint8_t nr, bool pf) {
  f[0] = command ? command_address() : response_address();
  f[1] = control;
  f[2] = uint8_t(nr << 1 | (pf ? 1 : 0));
  if (control != kSrej) ack_due = ready_due = false;
  status.rnr_sent += control == kRnr;
  status.rej_sent += control == kRej;
  status.srej_sent += control == kSrej;
  return 3;
}

size_t Link::information(uint8_t* f, uint8_t ns) {
  f[0] = command_address();
  f[1] = uint8_t(ns << 1);
  f[2] = uint8_t(vr << 1);
  out.copy(sent[ns].from, f + 3, sent[ns].n);
  ack_due = false;
  ++status.i_frames_sent;
  if (!t401.running()) t401.start(t401_samples);
  t403.stop();
  return size_t(3) + sent[ns].n;
}

// Unnumbered frames first, then frames that the far end waits for, then data. Each returns the frame's length, or 0 if
// none is due.
size_t Link::compose(uint8_t* f) {
  size_t n = compose_control(f);
  if (n > 0 || !connected()) return n;
  if ((n = compose_message(f)) > 0) return n;
  if ((n = compose_supervisory(f)) > 0) return n;
  if ((n = compose_information(f)) > 0) return n;
  return take(ack_due) ? supervisory(f, false, busy() ? kRnr : kRr, vr, false) : 0;
}

size_t Link::compose_control(uint8_t* f) {
  if (answer) {
    const size_t n = unnumbered(f, false, uint8_t(answer | (answer_f ? kUnnumberedPf : 0)));
    answer = 0;
    return n;
  }
  if (take(xid_answer_due)) return unnumbered(f, false, kXidFrame) + write_xid(xid_answer, true, f + 2);
  if (take(xid_due)) {
    Xid offer;
    offer.srej = config.srej;
    offer.test = true;
    offer.fcs32 = config.fcs32;
    offer.n401_tx = offer.n401_rx = config.n401;
    offer.k_tx = offer.k_rx = k;
    const oh_link_config& l = config.link;
    offer.v42bis = l.compression != 0;
    offer.compress = uint8_t(l.compression);  // this end is the initiator
    offer.codewords = uint16_t(l.codewords);
    offer.max_string = uint8_t(l.max_string);
    offer.v44 = l.v44 != 0;
    offer.v44_directions = uint8_t(l.v44);
    offer.v44_tx = parameters_of(l.v44_tx);
    offer.v44_rx = parameters_of(l.v44_rx);
    t401.start(t401_samples);
    return unnumbered(f, true, kXidFrame) + write_xid(offer, false, f + 2);
  }
  const uint8_t command = take(sabme_due) ? kSabme : take(disc_due) ? kDisc : 0;
  if (command == 0) return 0;
  t401.start(t401_samples);
  return unnumbered(f, true, command | kUnnumberedPf);
}

// BRK, BRKACK (Table 12) and TEST.
size_t Link::compose_message(uint8_t* f) {
  if (take(break_answer_due)) {
    f[2] = uint8_t(0x60 | (vrb ? 0x80 : 0));
    return unnumbered(f, false, kUi) + 1;
  }
  if (take(break_due)) {
    f[2] = uint8_t(0x40 | (vsb ? 0x80 : 0));
    f[3] = break_handling;
    f[4] = break_length;
    t401_break.start(t401_samples);
    return unnumbered(f, true, kUi) + 3;
  }
  if (take(test_due)) {
    copy(f + 2, test, test_n);
    return unnumbered(f, true, kTestFrame) + test_n;
  }
  if (take(echo_due)) {
    copy(f + 2, echo, echo_n);
    return unnumbered(f, true, kTestFrame) + echo_n;
  }
  return 0;
}

size_t Link::compose_supervisory(uint8_t* f) {
  const uint8_t ready = busy() ? kRnr : kRr;
  if (take(poll_due)) {
    t401.start(t401_samples);
    return supervisory(f, true, ready, vr, true);
  }
  if (take(final_due)) return supervisory(f, false, ready, vr, true);
  if (take(ready_due)) return supervisory(f, false, ready, vr, false);
  if (busy()) return 0;
  if (take(reject_due)) return supervisory(f, false, kRej, vr, false);
  for (uint8_t i = 0, ns = vr; status.srej && i < status.k_rx; ++i, ns = modulo(ns + 1u)) {
    if (!to_ask.has(ns)) continue;
    to_ask.remove(ns);
    asked.add(ns);
    asked_at[ns] = asks++;
    return supervisory(f, false, kSrej, ns, false);
  }
  return 0;
}

// The frames requested by SREJ, those sent again after REJ or a timer, and new frames.
size_t Link::compose_information(uint8_t* f) {
  if (status.far_busy || recovery) return 0;
  for (uint8_t ns = va; status.srej && ns != vs; ns = modulo(ns + 1u)) {
    if (!again.has(ns)) continue;
    again.remove(ns);
    ++status.retransmitted;
    return information(f, ns);
  }
  if (next != vs) {
    const uint8_t ns = next;
    next = modulo(next + 1u);
    again.remove(ns);
    ++status.retransmitted;
    return information(f, ns);
  }
  if (distance(va, vs) >= status.k_tx || !cut(vs, status.n401_tx)) return 0;
  const uint8_t ns = vs;
  next = vs = modulo(vs + 1u);
  return information(f, ns);
}

// Puts waiting bytes into a new frame.  @return false if there are none
bool Link::cut(uint8_t slot, uint32_t most) {
  if (wants_compression()) fill_out();
  const uint32_t waiting = out.head - framed;
  if (waiting == 0) return false;
  sent[slot].from = framed;
  sent[slot].n = uint16_t(waiting < most ? waiting : most);
  framed += sent[slot].n;
  sent[slot].user = wants_compression() ? unframed_user : sent[slot].n;
  unframed_user = 0;
  return true;
}

}  // namespace offhook::v42
