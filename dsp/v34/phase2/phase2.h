// SPDX-License-Identifier: MIT
//
// Phase 2 of V.34 (10/96), 11.2. Both modems exchange their capabilities (INFO0), measure the round trip with reversals
// of tones A and B, and probe the line in both directions (L1, L2). They exchange the results (INFO1c) and choose
// (INFO1a).
//
//    call    INFO0c B .......... ~B |                 | B ...... ~B L1 L2 ....... | INFO1c |        |
//    answer  INFO0a A .... ~A ....... A L1 L2 ........ A .. ~A |                  A ....... | INFO1a |
//
// Modems of V.92 that both request it have a short Phase 2 (V.92 9.4), without probing and without INFO1d. The analogue
// modem, which remembers the line, chooses:
//
//    digital   INFO0d B ........ ~B |                          |
//    analogue  INFO0a A .............. ~A INFO1a |
//
// In half-duplex operation (clause 12) only the source, which will send the primary channel, probes the line; either
// end may be it. The recipient chooses (INFOh):
//
//    source     INFO0 tone .......... reversed L1 L2 ... tone ....... |
//    recipient  INFO0 tone reversed |                 tone ... INFOh |
//
// One object serves the whole call. It starts after Phase 1, and again for a retrain (11.5) or to repeat INFO1 (the
// recovery procedures of Phases 3 and 4). It contains the time-outs and recoveries of 11.2.2, including the
// retrains that they start. The procedure is a table (transitions(), dsp/blocks/table_procedure.h).
//
// Samples are int16 units at 8000 a second; process() is real-time safe.
#pragma once

#include <stdint.h>

#include "dsp/blocks/table_procedure.h"
#include "dsp/v34/phase2/info.h"
#include "dsp/v34/phase2/info_detector.h"
#include "dsp/v34/phase2/line_probe.h"
#include "dsp/v34/phase2/overload_detector.h"
#include "dsp/v34/phase2/tones.h"
#include "offhook/pump.h"

namespace offhook::v34 {

/// All capabilities that an end can have: every symbol rate, both carriers, asymmetric rates, 1664 points.
inline constexpr Info0 kAllCapabilities = {
    true, true, true, true, true, true, true, true, true, 5, false, true, TransmitClock::kInternal, false};

/// The V.90 (09/98) side of an end, for either caller. In Phase 2, the digital modem acts as the call modem, and the
/// analogue modem as the answer modem (9.2).
enum class PcmSide : uint8_t { kNone, kDigital, kAnalogue };

/// The end's part in half-duplex operation: the source sends the primary channel, the recipient receives it.
enum class HalfDuplex : uint8_t { kNone, kSource, kRecipient };

/// A set of symbol rates: bit s for SymbolRate s.
using SymbolRates = uint8_t;
/// Upstream in V.90: 3000, 3200 and 3429 (V.90 6.2).
inline constexpr SymbolRates kUpstreamRates = 0b111000;

struct Phase2Config {
  oh_pump_role role = OH_PUMP_CALL;  ///< PcmSide::kDigital is call, kAnalogue is answer
  PcmSide pcm = PcmSide::kNone;
  Info0d digital{};                                ///< kDigital: the content of INFO0d beyond `capabilities`
  uint8_t (*u_info)(const Info0d& far) = nullptr;  ///< kAnalogue: U_INFO for this digital modem, 67 to 111
  SymbolRates upstream = kUpstreamRates;           ///< kAnalogue: whether INFO1a may choose V.90
  Info0 capabilities = kAllCapabilities;
  HalfDuplex half = HalfDuplex::kNone;  ///< without PcmSide
  uint8_t trn_length = 43;              ///< kRecipient: length of the source's TRN in Phase 3, in 35 ms; INFOh
  bool trn_16_points = false;           ///< kRecipient: TRN has 16 points, otherwise 4
  uint32_t max_bit_rate = 0;            ///< kRecipient: bit/s, limits the choice of the symbol rate; 0: no limit
  float tx_level_dbm0 = -12;            ///< nominal level of 10.1.2
  float guard_with_tone_db = -7;  ///< 1800 Hz with tone A, re nominal; 10.1.2.1 prints 0, with INFO -7: see CAVEATS
  uint8_t md_length = 0;          ///< of this end's MD in Phase 3, in 35 ms; for V.34 at most 45
  bool v92 = false;               ///< with PcmSide: announced by INFO0
  bool pcm_upstream = false;      ///< with v92: kDigital offers it in INFO1d, kAnalogue chooses it if offered
  bool short_phase2 = false;      ///< with v92: requested by INFO0
  /// kAnalogue, for the short Phase 2: known properties of the line.
  SymbolRate known_rate = SymbolRate::k3200;  ///< upstream
  Carrier known_carrier = Carrier::kLow;
  uint32_t known_round_trip_samples = 0;
  uint32_t longest_pcm_trip = UINT32_MAX;  ///< kDigital: samples, see refuses_pcm()
  uint16_t io_delay_samples = 0;  ///< time at the line terminals between a received sample and the sample returned by
                                  ///< the same call of process(): buffers of card and driver in both directions
};

/// Results and choices of Phase 2, for this end's transmitter (tx) and receiver (rx).
struct Phase2Outcome {
  Info0 own_info0;
  Info0 far_info0;
  Info1c info1c;                ///< sent by the call modem
  Info1a info1a;                ///< sent by the answer modem
  InfoH infoh;                  ///< half-duplex: sent by the recipient
  uint32_t round_trip_samples;  ///< RTDEc or RTDEa, at the line terminals: delay of the far echo
  SymbolRate tx_symbol_rate;
  SymbolRate rx_symbol_rate;
  Carrier tx_carrier;
  Carrier rx_carrier;
  uint8_t tx_pre_emphasis;  ///< index of 5.4, chosen by the far end
  uint8_t rx_pre_emphasis;
  uint8_t tx_projected_rate;  ///< in 2400 bit/s; an estimate, because MP negotiates the rate
  uint8_t rx_projected_rate;
  uint8_t tx_power_reduction_db;  ///< in Phases 3, 4 and data: as the far end requested; 0 if not possible
  uint8_t own_md_length;          ///< in 35 ms
  uint8_t far_md_length;
  uint8_t rx_power_reduction_db;    ///< requested from the far end, because the line to this end is overloaded
  const HighPassDesign* high_pass;  ///< LineProbe::high_pass()
  bool pcm_upstream;                ///< V.92 with PCM upstream was chosen
  bool pcm;                         ///< V.90 was chosen; then info1a_v90 is valid, and tx or rx is the upstream's
  Info0d info0d;                    ///< kAnalogue: of the far end
  Info1aV90 info1a_v90;
  float frequency_offset_hz;      ///< received minus sent; 0 if it could not be measured
  uint32_t samples_since_info1a;  ///< from the end of INFO1a's (INFOh's) last bit, sent or received, to the first
                                  ///< sample after kDone: the passed part of the 70 ms of silence
};

enum class Phase2State : uint8_t {
  kIdle,
  kInfo0,          ///< INFO0 sent once, then tone; waits for the far INFO0
  kInfo0Again,     ///< INFO0 sent repeatedly (11.2.2.1.1, 11.2.2.2.1)
  kRetrain,        ///< silence of 70 ms, then tone
  kFirstTone,      ///< call: B, waits for A's reversal. Answer: A, waits for B
  kReversed,       ///< answer: reversed A, waits for B's reversal
  kFirstTurn,      ///< reversal 40 ms after the far end's, for 10 ms
  kRoundTrip,      ///< call: silence, waits for A's second reversal
  kLostTurn,       ///< call: no second reversal; silence, waits for A
  kHear,           ///< silence: L1 and L2 are received
  kSecondTone,     ///< call: B, waits for A's reversal. Answer: A for 50 ms
  kSecondTurn,     ///< reversal, for 10 ms
  kSilent,         ///< answer: silence, waits for B's reversal
  kProbe,          ///< L1 and L2 sent; waits for the far tone
  kThirdTone,      ///< answer: A, INFO1c awaited
  kInfo1,          ///< INFO1 is sent; call: waits for INFO1a
  kNoInfo1,        ///< call: silence, waits for A or INFOMARKSa
  kMarksSilence,   ///< silence of 70 ms, then INFOMARKS
  kMarks,          ///< INFOMARKS; call: waits for INFOMARKSa. Answer: for INFO1c or B
  kShortReversed,  ///< call, short Phase 2: reversed B, waits for A's reversal
  kShortInfo1,     ///< call, short Phase 2: silence, waits for INFO1a
  kHalfReversed,   ///< recipient: reversal, silence, waits for the source's reversal
  kHalfTone,       ///< recipient: tone, waits for the source's tone
  kHalfToneEnds,   ///< recipient: tone for another 25 ms
  kAwaitInfoh,     ///< source: tone, waits for INFOh
  kDone,           ///< see outcome()
};

enum class Phase2Event : uint8_t {
  // heard
  kFarHasInfo0,    ///< an INFO0 that acknowledges this end's
  kFarLacksInfo0,  ///< another INFO0, without acknowledgement
  kFarReversal,
  kFarTone,   ///< at every sample while it lasts
  kFarInfo1,  ///< INFO1a at the call modem, INFO1c at the answer modem
  kFarInfo1aV90,
  kFarInfoh,
  kFarMarks,  ///< at every sample while they last
  // sent
  kOwnTone,   ///< at every sample in which no INFO sequence is sent
  kSentInfo,  ///< an INFO sequence has ended on the line
  // time
  kTurn,      ///< for this end's reversal
  kWaitOver,  ///< of a state
  kTimeout    ///< of a state, at every sample from then on
};

class Phase2 : public TableProcedure<Phase2, Phase2State, Phase2Event> {
 public:
  static const Table& transitions();

  explicit Phase2(const Phase2Config& config);

  /// PcmSide::kAnalogue: whether the next INFO1a chooses V.90 (the default) or V.34.
  void choose_pcm(bool pcm) { choose_pcm_ = pcm; }
  /// For V.90, in later INFO sequences: the symbol rates of Phase2Config::upstream, which the digital modem also uses
  /// (INFO0d, bit 40), and the length of this end's MD.
  void set_upstream(SymbolRates rates, uint8_t md_length);

  /// With V.92, in later INFO1: Phase2Config::pcm_upstream.
  void set_pcm_upstream(bool pcm) { config_.pcm_upstream = pcm; }

  /// PcmSide::kDigital: whether later INFO1d refuse V.90 because its trainings have failed.
  void refuse_pcm(bool failed) { pcm_failed_ = failed; }
  /// PcmSide::kDigital: trainings of V.90 have failed, or the round trip is longer than Phase2Config::longest_pcm_trip
  /// and the far end has shown that it does not wait that long. INFO1d then marks the symbol rates of V.90 as unusable,
  /// so that INFO1a chooses V.34.
  bool refuses_pcm() const;
  /// INFO1a chose V.90 although refuses_pcm(): later INFO1d mark nothing.
  void note_ignored_refusal() { ignores_refusal_ = true; }

  /// PcmSide::kNone: symbol rates at which this end's receiver could not be trained. INFO1 marks them as unusable, as
  /// long as another one remains.
  void avoid(SymbolRates rates) { avoided_ = rates; }

  /// Begins after Phase 1, when the 75 ms of silence are over.
  void start();
  /// Begins a retrain, started by this end or by more than 50 ms of the far end's tone: 70 ms of silence, then tone B
  /// or A. Source: 11.5
  void retrain();
  /// Recovers in Phase 3 or 4: exchanges INFO1c and INFO1a again, or retrains if the far end's tone comes.
  /// @param marks  begin with 70 ms of silence and INFOMARKS (the answer modem always, the call modem from Phase 4);
  ///               without them, the call modem waits for INFOMARKSa or tone A. Source: 11.3.2, 11.4.2.  @pre an
  /// outcome exists
  void repeat_info1(bool marks);

  /// Half-duplex: the primary channel's training has failed, so INFOh is exchanged again. Source: 12.3.3, 12.4.3.1
  /// @pre an outcome exists
  void repeat_infoh();

  /// Another Phase 2 in the same role had this outcome. This one is then done, and retrains start from that outcome.
  void adopt(const Phase2Outcome& outcome);

  /// One sample in, one out. Silence before start() and after kDone. Real-time: yes, except the sample at which probing
  /// is analysed.
  float process(float rx);

  /// Half-duplex: this end will send the primary channel.
  bool is_source() const { return config_.half == HalfDuplex::kSource; }
  bool done() const { return state_ == State::kDone; }
  /// @pre done()
  const Phase2Outcome& outcome() const { return outcome_; }
  /// Measurements of the line from the far end's transmitter to here; valid from the end of probing on.
  const LineProbe& probe() const { return probe_; }
  /// The far end's INFO0 of this or an earlier Phase 2 was received.
  bool has_far_info0() const { return has_far_info0_; }
  /// Reports INFO0 of both ends to an observer of sequences. @pre has_far_info0()
  void show_info0(const oh_pump_observer& observer) const;
  /// Retrains begun by time-outs since construction.
  uint32_t retrains() const { return retrains_; }
  /// Samples since a signal of the far end was received: its tone, INFO or INFOMARKS; 0 before the first one.
  uint64_t unheard() const { return heard_at_ < 0 ? 0 : static_cast<uint64_t>(now_ - heard_at_); }

 private:
  // guards
  bool calls() const { return config_.role == OH_PUMP_CALL && !is_half_duplex(); }
  bool answers() const { return config_.role == OH_PUMP_ANSWER && !is_half_duplex(); }
  bool is_half_duplex() const { return config_.half != HalfDuplex::kNone; }
  bool is_recipient() const { return config_.half == HalfDuplex::kRecipient; }
  bool is_source_past_l1() const { return is_source() && past_l1(); }
  bool has_far_tone() const { return tone_.present(); }
  bool is_recipient_after_50_ms() const;
  bool lacks_info0() const { return !has_far_info0_ && sends_tone(); }
  bool answers_after_50_ms() const;
  bool is_short() const;
  bool far_has_v92() const;
  bool calls_short_after_50_ms() const;
  bool answers_short() const { return answers() && is_short(); }
  bool past_l1() const;
  bool calls_past_l1() const { return calls() && past_l1(); }
  bool answers_past_l1() const { return answers() && past_l1(); }
  bool calls_in_vain() const { return calls() && !tone_.present(); }
  bool calls_refusing() const { return calls() && refuses_pcm() && !ignores_refusal_; }
  bool probes_in_vain() const { return (answers() || is_source()) && !tone_.present(); }

  Info0d digital_info0(const Info0& capabilities) const;
  Info0 analogue_info0(Info0 info) const;

  // actions
  void repeat_info0();
  void end_info0() { again_ = false; }
  void answer_reversal();
  void turn_round();
  void begin_first_tone();
  void begin_full();
  void begin_full_with_tone();
  void reverse_for_short();
  void await_short_info1a();
  void turn_for_short();
  void send_short_info1a();
  void take_short_info1a();
  void put_short_choice();
  void turn_after_far() { turn_after(tone_.reversal_time()); }
  void turn_after_now() { turn_after(static_cast<double>(now_)); }
  void reverse();
  void reverse_first();
  void reverse_second();
  void fall_silent() { modulator_.silence(); }
  void end_round_trip();
  void begin_hear();
  bool is_line_quiet() const;
  void hear(float rx);
  int windows_in_retrain() const;  // of L2
  void end_probing();
  void send_tone();
  void begin_second_tone();
  void send_probing();
  void await_info1a();
  void send_marks();
  void begin_retrain();
  void retrain_by_itself();
  void retrain_unheeded();
  void reverse_as_recipient();
  void hear_source();
  void end_source_probing();
  void end_tone();
  void await_infoh();
  // The choice of INFO1: phase2_choice.cpp
  void begin_choice(bool in_advance);
  bool choose_more();
  const LineProbe::Search& chosen(SymbolRate s);
  ProbingResult towards_us(SymbolRate s);
  bool is_usable(SymbolRate s) const;
  uint8_t wanted_reduction_db() const;
  void send_info1c();
  void send_info1a();
  void take_info1a();
  void take_info1a_v90();
  void finish_answer();
  SymbolRate best_rate();
  void send_infoh();
  void take_infoh();
  void finish_half_duplex(uint32_t samples_since_infoh);

  void enter(State state);
  /// Time from a sent sample to the far end's answer to it, for time-outs.
  int64_t answer_delay() const { return int64_t{outcome_.round_trip_samples} + config_.io_delay_samples; }
  void put(float rx);
  void put_info0(const DpskDecision& decision);
  bool hears_tone() const;
  bool info0_rests() const;  // a repeated INFO0 changes nothing
  bool far_is_impatient() const;
  bool sends_tone() const;
  int next_bit();
  float next_probing();
  template <class Info>
  void send(const Info& info) {
    encode(info, bits_);
    send_bits(Info::kBits);
  }
  void send_bits(int count);
  void send_info0(bool again);
  void turn_after(double reversal);
  void measure_round_trip();
  bool can_choose_v90() const;
  void send_info1a_v90();
  void choose_pcm_upstream();
  static uint32_t samples_since(float age);
  void finish_v90(uint32_t samples_since_info1a);
  void finish_v34(uint32_t samples_since_info1a);
  void finish(const ProbingResult& tx, const ProbingResult& rx, uint32_t samples_since_info1a);

  Phase2Config config_;
  Phase2Outcome outcome_{};
  uint32_t retrains_ = 0;
  int64_t heard_at_ = -1;  // a signal of the far end; -1: none yet

  // Receivers.
  DpskReceiver dpsk_;
  InfoDetector<Info0> info0_;
  InfoDetector<Info1c> info1c_;         // answer
  InfoDetector<Info1a> info1a_;         // call
  InfoDetector<Info0d> info0d_;         // PcmSide::kAnalogue, instead of info0_
  InfoDetector<Info1aV90> info1a_v90_;  // PcmSide::kDigital, in addition to info1a_
  InfoDetector<InfoH> infoh_;           // HalfDuplex::kSource
  bool choose_pcm_ = true;
  bool chose_pcm_ = false;  // kAnalogue: in the latest INFO1a
  bool ignores_refusal_ = false;
  bool pcm_failed_ = false;
  bool pcm_upstream_offered_ = false;  // from the received INFO1d
  bool may_be_short_ = false;          // the current Phase 2, as far as this end decides
  InfoMarksDetector marks_;
  ToneDetector tone_;
  LineProbe probe_;
  LineProbe::Search search_[kSymbolRates];  // towards us
  SymbolRates avoided_ = 0;
  OverloadDetector overload_;
  int searching_ = 0;        // the symbol rate whose search is not finished; kSymbolRates if all are
  bool in_advance_ = false;  // continues at every sample
  bool got_marks_ = false;   // INFOMARKS were found and have not ended

  // Sending.
  DpskModulator modulator_;
  float probing_rms_;
  int probing_at_ = -1;  // sent samples of L1 and L2; -1: not sending them
  uint8_t bits_[Info1c::kBits]{};
  int bit_count_ = 0;
  int bit_at_ = 0;
  bool again_ = false;        // INFO0 is repeated
  int64_t info0_since_ = 0;   // the first repetition of the latest series
  int64_t info0_end_ = 0;     // of the first one of this end
  int64_t far_again_at_ = 0;  // the far end's first repetition was received; 0: none
  bool send_marks_ = false;   // ones without end
  int64_t bits_end_ = 0;      // when the last sent bit ends on the line

  // Times, in samples.
  bool has_far_info0_ = false;
  bool hurries_ = false;      // a retrain: L2 is received only as long as necessary
  float far_peak_ = 0;        // of the far end's tone, when its first reversal came
  double sent_reversal_ = 0;  // at the line terminals
  int64_t reverse_at_ = 0;    // when this end's reversal is due; 0: none
  int64_t hear_from_ = 0;     // L2 from here on is analysed, in kHear
};

}  // namespace offhook::v34
