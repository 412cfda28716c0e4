// SPDX-License-Identifier: MIT
//
// One LAPM link and its procedures: lapm.cpp is the C interface and the life of a link, link_states.cpp its states and
// their transitions, link_receive.cpp the effect of received frames, link_send.cpp the choice of the next frame.
// mnp_link.cpp is the alternative procedure, MNP: frames, window and timers over the same states, rings and framer.
// Clauses are those of ITU-T V.42 (03/2002), those of Annex A of the editions of 1993 and 1996.
#ifndef OFFHOOK_DSP_V42_LINK_H
#define OFFHOOK_DSP_V42_LINK_H

#include "dsp/blocks/byte_ring.h"
#include "dsp/link/compression.h"
#include "dsp/link/detection.h"
#include "dsp/link/hdlc.h"
#include "dsp/link/lapm.h"
#include "dsp/link/mnp_frames.h"
#include "dsp/link/octet_frames.h"
#include "dsp/link/xid.h"

namespace offhook::v42 {

inline constexpr uint16_t kDefaultN401 = 128;  // 9.2.3
inline constexpr uint8_t kDefaultK = 15;       // 9.2.4
inline constexpr uint8_t kModulus = 128;       // 8.2.3.2.1
inline constexpr size_t kTestSize = 64;

inline uint8_t modulo(unsigned x) {
  return uint8_t(x & (kModulus - 1));
}
inline uint8_t distance(uint8_t from, uint8_t to) {
  return modulo(unsigned(to) - from);
}

// Control fields (Table 8), P/F bit clear.
enum Unnumbered : uint8_t {
  kSabme = 0x6F,
  kDm = 0x0F,
  kUi = 0x03,
  kDisc = 0x43,
  kUa = 0x63,
  kFrmr = 0x87,
  kXidFrame = 0xAF,
  kTestFrame = 0xE3
};
inline constexpr uint8_t kUnnumberedPf = 0x10;
enum Supervisory : uint8_t { kRr = 0x01, kRnr = 0x05, kRej = 0x09, kSrej = 0x0D };

/// One bit for each sequence number.
class SequenceSet {
 public:
  bool has(uint8_t n) const { return (word_[n >> 5] >> (n & 31)) & 1; }
  void add(uint8_t n) { word_[n >> 5] |= 1u << (n & 31); }
  void remove(uint8_t n) { word_[n >> 5] &= ~(1u << (n & 31)); }
  void clear() { *this = SequenceSet{}; }

 private:
  uint32_t word_[kModulus / 32] = {};
};

/// Counts down in line time.
struct Timer {
  uint32_t left = 0;  // samples; 0: stopped
  void start(uint32_t samples) { left = samples ? samples : 1; }
  void stop() { left = 0; }
  bool running() const { return left != 0; }
  /// A running timer that was started with `before` ends as if started with `after`, or immediately.
  void prolong(uint32_t before, uint32_t after) {
    if (running()) start(left + after > before ? left + after - before : 1);
  }
  /// @return whether it has just expired
  bool advance(uint32_t n) {
    if (left == 0) return false;
    left = n < left ? left - n : 0;
    return left == 0;
  }
};

/// A received frame without its check sequence.
struct Frame {
  bool command;
  uint8_t control;
  bool pf;     // I and S: bit 1 of the second control octet; U: bit 5
  uint8_t nr;  // I and S
  bool fcs32;  // its check sequence
  const uint8_t* info;
  size_t n;
  const MnpHeader* mnp;  // a frame of MNP has only this one
};

/// The events that change the state of a link; the frames are in Table 8, those of MNP in Table A.1.
enum class LinkEvent : uint8_t {
  kSabme,
  kDisc,
  kUa,
  kDm,
  kFrmr,
  kXid,
  kUi,
  kTest,
  kUndefined,  ///< another frame
  kT400,
  kT401,
  kN400,  ///< T401 expires again, after the last attempt
  kLr,
  kLd,
  kLt,
  kLa,
  kLn,
  kLna,
  kDamaged  ///< a frame of MNP with a wrong check sequence
};

/// The part of a link that only the alternative procedure uses. Sequence numbers are modulo 256 and begin with 1
/// (A.6.3); `va` is one past the acknowledged frame.
struct Mnp {
  OctetFrameSender sender;
  OctetFrameReceiver receiver;
  LinkRequest agreed;  // the originator's own until the answerer's arrives
  bool active;         // instead of LAPM
  bool heard;          // a frame has arrived, possibly damaged
  bool bit_oriented;   // HDLC frames are sent, start-stop characters no more
  uint16_t rounds;     // of detection without success
  Timer t402, t404;    // an acknowledgement is due: frames have arrived, or none was sent for long
  uint8_t received;    // frames since the last acknowledgement
  uint8_t credit;      // frames that the far end takes beyond the acknowledged one: S(k)
  uint8_t stale;       // repeated acknowledgements that frames on their way may still cause
  bool repeated_last;  // the newest frame arrived twice; that is not answered (A.7.3.2.2)
  uint8_t attention_tx, attention_rx, attention;  // V(SA), V(RA), the one to answer
  uint16_t field;                                 // octets of information in a new frame
  uint16_t good;                                  // frames acknowledged since the field changed or a frame was repeated
  // Frames to send
  bool request_due, confirm_due, acknowledgement_due, attention_answer_due, disconnect_due;
  uint8_t reason;  // of the disconnect
};

struct Link {
  oh_lapm_config config;
  oh_lapm_status status;

  // Framing
  HdlcSender sender;
  HdlcReceiver receiver;
  PatternSender pattern_sender;
  PatternReceiver pattern_receiver;
  uint8_t* received;    // the receiver's buffer
  uint8_t k;            // this end's largest window
  bool framing;         // flags and frames are sent, detection patterns no more
  bool pattern_seen;    // answerer: answer it
  bool pattern_enough;  // answerer: kAnswerPatterns sent are enough (flags arrived, or T400 is over)

  // Timers
  uint32_t t401_samples;
  uint32_t tx_bit_rate, rx_bit_rate;
  Timer t400, t401, t403, t401_break;
  uint16_t attempts, break_attempts;  // retransmission counters

  // Data transfer (8.2.3.2). vs is one past the newest frame ever sent. To repeat frames, `next` goes back below vs.
  uint8_t vs, va, vr, next;
  SequenceSet again;  // requested by SREJ
  struct {
    uint32_t from;
    uint16_t n;
    uint32_t user;   // user bytes in this frame
  } sent[kModulus];  // position of each frame's bytes in `out`
  uint32_t framed;   // position in `out` of the first byte that was not in a frame
  ByteRing out, in;
  ByteRing written;  // by the user, but not yet in `out`: with compression they stay characters until they fill a frame
  uint32_t unframed_user;
  Compression compression;
  uint8_t* held;  // [k][n401] frames received ahead of V(R) (selective retransmission)
  uint16_t held_n[kModulus];
  uint8_t held_base;  // slot of V(R)
  SequenceSet holding, asked, to_ask;
  uint16_t asked_at[kModulus];  // the order in which they were asked for
  uint16_t asks;
  bool rejecting;           // REJ exception condition
  uint8_t reject_distance;  // of the last received frame in the buffer
  bool recovery;            // timer-recovery condition
  bool user_busy;
  bool fresh;  // no I frame has been received since the SABME

  // Frames to send, at most one of each kind (link_send.cpp)
  uint8_t answer;  // UA or DM, 0: none
  bool answer_f;
  bool sabme_due, disc_due, xid_due, xid_answer_due, poll_due, final_due, ready_due, reject_due, ack_due;
  Xid xid_answer;
  bool test_due, test_pending, echo_due, break_due, break_pending, break_answer_due;
  uint8_t test[kTestSize], test_n, echo[kTestSize], echo_n;
  uint8_t break_handling, break_length;
  bool vsb, vrb;  // break sequence numbers (8.13.2)
  bool test_agreed, fcs32_agreed;

  Mnp mnp;

  bool originator() const { return config.role == OH_PUMP_CALL; }
  uint8_t command_address() const { return originator() ? 0x03 : 0x01; }  // Table 6: DLCI 0, C/R, EA
  uint8_t response_address() const { return originator() ? 0x01 : 0x03; }
  bool busy() const { return status.busy; }
  bool connected() const { return status.state == OH_LAPM_CONNECTED; }
  uint32_t samples(uint32_t ms) const { return uint32_t(uint64_t(ms) * config.sample_rate_hz / 1000); }
  void notify(oh_lapm_event event, uint32_t argument) {
    if (config.event) config.event(config.user, event, argument);
  }

  bool wants_mnp() const { return config.link.protocols & OH_PROTOCOL_MNP; }
  bool wants_v42() const { return config.link.protocols != OH_PROTOCOL_MNP; }

  // lapm.cpp
  void start_detection();
  void update_t401();
  void set_state(oh_lapm_state state);
  void fail(oh_lapm_cause cause);
  void start_framing();
  void establish();
  void enter_connected();
  void update_busy();
  void start_t403();
  bool wants_compression() const { return Compression::wanted(config.link); }
  size_t uncompress(uint8_t* bytes, size_t n);
  // link_states.cpp
  void fire(LinkEvent event, const Frame& f);
  void receive_unnumbered(const Frame& f);
  void t401_expired();
  uint16_t attempts_allowed() const;
  // link_send.cpp
  void get_bits(uint8_t* octets, size_t n);
  int next_bit();
  size_t compose(uint8_t* f);
  size_t unnumbered(uint8_t* f, bool command, uint8_t control) const;
  size_t supervisory(uint8_t* f, bool command, uint8_t control, uint8_t nr, bool pf);
  size_t information(uint8_t* f, uint8_t ns);
  size_t compose_control(uint8_t* f);
  size_t compose_message(uint8_t* f);
  size_t compose_supervisory(uint8_t* f);
  size_t compose_information(uint8_t* f);
  void fill_out();
  bool cut(uint8_t slot, uint32_t most);
  // link_receive.cpp
  void put_bits(const uint8_t* octets, size_t n);
  void put_bit(int bit);
  void note_framing();
  void receive(const uint8_t* frame, size_t n, bool oversize, bool fcs32);
  void receive_information(const Frame& f, uint8_t ns);
  void receive_supervisory(const Frame& f);
  void receive_xid(const Frame& f);
  bool agree_on_compression(const Xid& theirs, bool far_end_initiates);
  bool agree_on_v44(const Xid& theirs);
  bool agree_on_v42bis(const Xid& theirs, bool far_end_initiates);
  void receive_break(const Frame& f);
  void receive_test(const Frame& f);
  void deliver(const uint8_t* bytes, size_t n);
  uint8_t* slot(uint8_t ahead) { return held + size_t((held_base + ahead) % k) * config.n401; }
  void advance_vr();
  void ask_again_before(uint8_t ns);
  bool acknowledge(uint8_t nr);
  void go_back(uint8_t nr);
  void retire(uint8_t slot);
  // mnp_link.cpp
  uint32_t mnp_t401_ms() const;
  void request_link();
  void answer_request(const Frame& f);
  void confirm_answer(const Frame& f);
  void refuse_link(MnpReason reason);
  void enter_data_phase();
  void give_up_mnp();
  void end_mnp(MnpReason reason);
  void start_t404();
  void advance_mnp(uint32_t n);
  void put_mnp_bit(int bit);
  void receive_mnp(const uint8_t* frame, size_t n);
  void receive_transfer(const Frame& f);
  void receive_acknowledgement(const Frame& f);
  void receive_attention(const Frame& f);
  void attention_answered(const Frame& f);
  void repeat_frames();
  int next_mnp_bit();
  size_t compose_mnp(uint8_t* f);
  size_t compose_acknowledgement(uint8_t* f);
  size_t compose_attention(uint8_t* f);
  size_t compose_transfer(uint8_t* f);
  bool acknowledgement_waits() const;
};

}  // namespace offhook::v42

struct oh_lapm : offhook::v42::Link {};
#endif
