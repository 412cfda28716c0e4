// SPDX-License-Identifier: MIT
//
// Phases 3 and 4, data mode, rate renegotiation and cleardown of V.92 (11/2000) with PCM upstream, 9.5 to 9.8 and 9.11:
// the digital modem's side. PCM codes to send, samples of the upstream without echo, and time.
//
//    analogue  Ru Ru' TRN1u Ja ...|                        Su Su' Su ...... Su' TRN1u ........... CPt CPt E1u TRN2u
//    digital                        Sd Sd' TRN1d Jd Jd ............. Jp Jp Jp Jp' DIL DIL DIL .... Ri ... Ri' TRN2d
//                                             Phase 3
//    analogue  TRN2u ....... SUVu CPu SUVu SUVu' E2u B1u data
//    digital   TRN2d SUVd SUVd .. CPd SUVd SUVd' Ed B1d data
//                                             Phase 4
//
// From the second TRN1u on the digital modem knows the channel. It computes filters for it, with which it reads TRN2u.
// TRN2u comes while its own TRN2d has as many levels as data, so the echo is like that of the data mode: channel and
// echo are learnt further, and the noise is measured. Then it computes the analogue modem's precoder, prefilter and
// points (dsp/v90/pcm/upstream_design.h).
#pragma once

#include <stdint.h>

#include "dsp/blocks/table_procedure.h"
#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/upstream_sequences.h"
#include "dsp/v90/pcm/downstream.h"
#include "dsp/v90/pcm/echo_canceller.h"
#include "dsp/v90/pcm/upstream_design.h"
#include "dsp/v90/pcm/upstream_reader.h"
#include "dsp/v90/pcm/upstream_receiver.h"
#include "dsp/v90/session/digital.h"
#include "offhook/pump.h"

namespace offhook::v90 {

/// The sequences of the upstream in training: bits of symbols with 2, 4 or 8 points.
class UpstreamSequences {
 public:
  enum class Found : uint8_t { kNone, kDil, kCp, kShortCp, kSuv, kE };

  /// @param points  of the symbols to come
  void begin(int points);
  /// The first symbol's sign is relative to that of the symbol before.
  void set_sign(bool negative) { negative_ = negative; }
  Found put(bool negative, int magnitude);
  const Dil& dil() const { return dil_; }
  UpstreamRates rates() const { return dil_receiver_.rates(); }
  const Cp& cp() const { return cp_; }
  const ShortCp& short_cp() const { return short_cp_; }
  const Suv& suv() const { return suv_; }

 private:
  void find(int bit, int bits_a_symbol, Found* found);

  int points_ = 2;
  bool negative_ = false;
  Descrambler descrambler_{kGpa};
  DilReceiver dil_receiver_{true};
  CpReceiver cp_receiver_{CpForm::kV92};
  FixedSequenceReceiver<ShortCp> short_cp_receiver_;
  FixedSequenceReceiver<Suv> suv_receiver_;
  Dil dil_{};
  Cp cp_{};
  ShortCp short_cp_{};
  Suv suv_{};
  int until_next_ = -1;  // symbols until a sequence begins; below 0: not known
  int in_frame_ = -1;    // symbols of the frame that may be E
  int ones_ = 0;
};

enum class DigitalV92State : uint8_t {
  kAwaitRu,  ///< Ru of Phase 3 is awaited
  kFarMd,    ///< the analogue modem's MD is waited out
  kFarTrn,   ///< TRN1u and Ja come
  kTrain,    ///< own Sd, TRN1d and Jd, until Su-bar
  kPhase,    ///< Su-bar and Su, half a symbol later
  kJp,       ///< Jp, until Su-bar
  kDil,      ///< Jp' and DIL, until E1u
  kFinal,    ///< Phase 4; and the same signals of renegotiation and cleardown
  kData,
  kEnded  ///< see outcome()
};

enum class DigitalV92Event : uint8_t {
  // a signal of this end has ended, in the order of Downstream::Signal
  kSentSilence,
  kSentSd,
  kSentSdBar,
  kSentTrn1d,
  kSentJd,
  kSentJdPrime,
  kSentDil,
  kSentR,
  kSentRBar,
  kSentDrain,
  kSentTrn2d,
  kSentMp,
  kSentEd,
  kSentB1d,
  // heard
  kFarReversal,
  kFarDil,
  kFarCp,
  kFarShortCp,
  kFarSuv,
  kFarE,
  // time
  kWaitOver,
  kTimeout,
  kNoB1u,
  // data mode
  kBothSendData,
  kLineLost,
  kRenegotiate,
  kCleardown
};

class DigitalV92Procedure : public TableProcedure<DigitalV92Procedure, DigitalV92State, DigitalV92Event> {
 public:
  static const Table& transitions();

  DigitalV92Procedure() : TableProcedure(State::kEnded) {}
  /// Phase 3 begins now: INFO1a has been received.
  DigitalV92Procedure(const DigitalConfig& config, const oh_bit_port& port);

  /// A sample of 8000 Hz. @param sample  without echo  @param received  with it; a lost one: both 0  @param echo  of
  /// which `sample` is the newest result; learns from the upstream. Null: none.  Real-time: yes.
  void put(float sample, float received, PcmEchoCanceller* echo = nullptr);
  /// @return the next code.  Real-time: yes.
  Pcm next();
  /// As DigitalProcedure::far_end_silent().
  bool far_end_silent() const;

  /// Data mode only.
  void renegotiate() { handle(Event::kRenegotiate); }
  void cleardown() { handle(Event::kCleardown); }

  Outcome outcome() const { return outcome_; }
  /// The upstream has carried no rate of V.92: INFO1d is to say so.
  bool refuses_upstream() const { return refuses_; }
  bool live() const { return rx_live_ && tx_live_; }
  Downstream::Signal signal() const { return tx_.signal(); }
  const Cp& cp() const { return cp_; }
  const Cpd& cpd() const { return cpd_; }
  const Dil& dil() const { return dil_; }
  const UpstreamReceiver& receiver() const { return receiver_; }
  const UpstreamReader& reader() const { return reader_; }
  const UpstreamDesign& design() const { return design_; }
  int rx_bit_rate() const { return cpd_.rate_thirds() / 3; }
  uint32_t renegotiations() const { return renegotiations_; }
  uint64_t bits_sent() const { return tx_.bits_sent(); }
  uint64_t bits_received() const { return bits_received_ + reader_.bits_received(); }

 private:
  enum class Procedure : uint8_t { kStartUp, kRenegotiation, kCleardown };
  using Signal = Downstream::Signal;

  bool expects_md() const { return config_.far_md_length > 0; }
  bool has_sent_jd() const { return jd_sent_; }
  bool wants_no_dil() const { return dil_.segments == 0; }
  bool cpt_has_come() const { return cpt_received_; }
  bool ends_scr() const { return wants_no_dil() && receiver_.measured() > kEnoughNoise; }
  bool ready_for_r_bar() const { return procedure_ != Procedure::kStartUp || e1_received_; }
  bool is_designed() const { return designed_; }
  bool is_live() const { return rx_live_; }
  bool owes_cpd() const { return suv_received_ && (cpd_at_ == 0 || cpd_is_late()); }
  bool cpd_is_late() const;
  bool agreed() const { return primes_ > 0 && answered_; }
  bool released() const {
    return procedure_ == Procedure::kCleardown ? answered_ : cp_received_ && cp_.drn == 0 && primes_ > 0;
  }
  bool expects_e2() const { return cp_received_ && cpd_at_ != 0; }
  bool expects_ru() const { return procedure_ != Procedure::kStartUp && !follows_; }
  bool ed_was_sent() const { return ed_sent_; }

  void wait_out_md();
  void follow_trn1u();
  void send_sd();
  void begin_sd() { tx_.start(Signal::kSd); }
  void send_sd_bar() { tx_.start(Signal::kSdBar); }
  void send_trn1d();
  void begin_jd();
  void send_jd() { tx_.start_jd(jd_); }
  void note_phase();
  void turn_phase();
  void measure_phase();
  void send_jp() { tx_.start_jp(jp_); }
  void follow_second_trn1u();
  void send_jp_prime() { tx_.start(Signal::kJdPrime); }
  void send_dil();
  void send_scr() { tx_.start_scr(kLeastRi); }
  void send_ri();
  void take_cpt();
  void take_e1u();
  void send_r_bar();
  void send_trn2d();
  void send_more_trn2d() { tx_.start(Signal::kTrn2d, kFrameIntervals * 8); }
  void send_suv();
  void send_cpd();
  void take_suv();
  void take_cp();
  void take_short_cp();
  void take(const Cp& cp);
  bool has_cp_of_data() const { return procedure_ != Procedure::kStartUp; }
  void send_ed();
  void drain() { tx_.start(Signal::kDrain); }
  void send_rd();
  void send_b1d();
  void send_data();
  void receive_b1u();
  void begin_renegotiation();
  void answer_renegotiation();
  void follow_renegotiation();
  void begin_cleardown();
  void end_in_retrain() { end(Outcome::kRetrain); }
  void release() { end(Outcome::kReleased); }

  void end(Outcome outcome);
  void begin_procedure(Procedure procedure);
  UpstreamLine line() const;
  void begin_filters();
  void begin_design();
  void end_design();
  void read_symbols(PcmEchoCanceller* echo);
  void read_data(PcmEchoCanceller* echo);
  void learn_from_data(int64_t at, PcmEchoCanceller* echo);
  void follow_line();
  void advance_data();
  float band_edge(int64_t newest) const;
  static constexpr int kEnoughNoise = 4000;  // symbols
  static uint32_t ms(uint32_t t) { return t * 8; }

  DigitalConfig config_;
  oh_bit_port port_{};
  Outcome outcome_ = Outcome::kNone;
  Procedure procedure_ = Procedure::kStartUp;
  bool refuses_ = false;
  int64_t b1u_deadline_ = 0, silent_at_ = 0;

  Downstream tx_;
  uint32_t codes_ = 0;
  Jd jd_{};
  Jp jp_{};
  Dil dil_{};
  bool jd_sent_ = false;
  int segment_ = 0;
  uint8_t bits_[kMostCpdBits]{};

  UpstreamReceiver receiver_;
  UpstreamSequences sequences_;
  UpstreamDesign design_;
  UpstreamReader reader_;
  UpstreamRates rates_ = 0;
  float edge_ = 0;
  bool follows_ = false;  // symbols of training are read
  bool reads_ = false;    // data
  int64_t data_from_ = 0, data_at_ = 0;
  bool has_filters_ = false;  // of the current training
  int64_t design_at_ = -1;    // symbol; below 0: not awaited
  bool designed_ = false;
  float noise_scale_ = 1;

  Cp cpt_{}, cp_{};
  Cpd cpd_{};
  FrameParameters training_frames_, data_frames_;
  bool cpt_received_ = false, e1_received_ = false, cp_received_ = false, suv_received_ = false, answered_ = false;
  bool ed_sent_ = false, sends_prime_ = false;
  int64_t cpd_at_ = 0;
  int cpd_symbols_ = 0;
  int primes_ = 0;
  bool tx_live_ = false, rx_live_ = false;
  int watched_ = 0, noisy_ = 0;
  uint32_t renegotiations_ = 0;
  uint64_t bits_received_ = 0;
};

}  // namespace offhook::v90
