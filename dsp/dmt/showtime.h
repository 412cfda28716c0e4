// SPDX-License-Identifier: MIT
//
// Data mode of one direction: frames to points and back, repeating 68 data symbols and a synchronization symbol
// (REVERB).
//
// Both ends begin the port's bits at the same place: an indicator bit of one superframe announces that the payload of
// the next one is the port's. Before that it is zeros, which the receiver discards.
//
// The receiver measures each tone's noise by its decision errors, and checks the margins once per superframe. If one is
// small, it requests a swap of bits (bit_swap.h); if that does not help, margin_lost().
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/dmt/bit_swap.h"
#include "dsp/dmt/frame.h"
#include "dsp/dmt/loading.h"
#include "dsp/dmt/receiver.h"
#include "dsp/dmt/tones.h"
#include "dsp/dmt/trellis_decoder.h"
#include "offhook/pump.h"

namespace offhook::dmt {

/// Indicator bits: 1 unless they report an event, except kLive. Our choice.
inline constexpr uint32_t kFarBlockError = 1u << 8;  ///< 0: a CRC was wrong in this end's received data
inline constexpr uint32_t kLive = 1u << 20;          ///< 1: the next superframe's payload is that of the port

/// Factors of each tone, from the units of its constellation to points.
struct ToneScales {
  float of[kMostTones]{};
  void set(const Band& band, const Loading& loading);
};

class DataTransmitter {
 public:
  explicit DataTransmitter(const Band& band);
  void begin(const Loading& loading);
  /// The far end requests a swap of bits in the transmitted signal. Repetitions and requests during another swap are
  /// ignored. Real-time: yes, O(tones).
  void swap(const SwapRequest& request);
  /// The points of the next symbol. @param live  the port's bits may be taken  @param block_error  in the received data
  /// @param request  by this end, for its received signal; may be NULL. @return bits taken from the port. Real-time:
  /// yes, O(bits of a symbol; one word every S symbols).
  int symbol(const oh_bit_port& port, bool live, bool block_error, const SwapRequest* request, Complex* points);
  const Loading& loading() const { return loading_; }

 private:
  void begin_superframe(bool live, bool block_error, const SwapRequest* request);

  const Band band_;
  Complex reverb_[kMostTones];
  Loading loading_, next_;
  ToneScales scales_;
  BitTable table_;
  TransmitPath path_;
  OctetScrambler filler_;
  int count_ = 0;  // symbols of the superframe
  uint8_t superframe_ = 0;
  Operation acknowledge_;  // of the current swap; kNone: there is none
  bool swapped_ = false;   // swap_id_ is that of the last one
  uint8_t swap_id_ = 0;
  uint8_t operation_[kOperationOctets]{};
  bool announced_ = false, live_ = false;
  uint32_t indicators_ = 0;
};

class DataReceiver {
 public:
  explicit DataReceiver(const Band& band);
  /// @param[in] error  [tones] mean square of the points' errors so far
  void begin(const Loading& loading, const float* error);
  /// One symbol of `receiver`. @return bits given to the port. Real-time: as DataTransmitter.
  int symbol(Receiver* receiver, const oh_bit_port& port);

  bool block_error() const { return block_error_; }  ///< of the newest superframe
  /// Whether the synchronization symbol was missing, or every CRC wrong, for too long.
  bool lost() const;
  /// Whether tones have carried too many bits for half a second, and swapping did not help.
  bool margin_lost() const { return weak_ >= kMostWeak; }
  /// The request to the far transmitter; null if there is none.
  const SwapRequest* request() const { return asking_ ? &request_ : nullptr; }
  /// A request of the far end, reported once. @return whether there is one
  bool take_far_request(SwapRequest* request);

  const Loading& loading() const { return loading_; }
  float least_margin() const { return least_margin_; }     ///< of all tones, a ratio; 0 before it is known
  uint32_t swapped_bits() const { return swapped_bits_; }  ///< since init
  uint32_t superframes() const { return superframes_; }
  uint32_t crc_errors() const { return crc_errors_; }
  uint32_t far_crc_errors() const { return far_crc_errors_; }
  uint32_t bad_syncs() const { return bad_syncs_; }
  uint32_t spoiled_symbols() const { return spoiled_; }
  uint32_t corrected_octets() const { return path_.corrected_octets(); }
  uint32_t lost_words() const { return path_.lost_words(); }

 private:
  static constexpr int kMostWeak = 120;  // quarters of a superframe: half a second

  void sync(Receiver* receiver);
  void decide(Receiver* receiver, uint8_t* octets);
  void apply();
  void weigh();
  void measure_margins();
  void watch_margins();
  void hear_operation();

  const Band band_;
  Complex reverb_[kMostTones];
  Loading loading_, next_;
  ToneScales scales_, inverse_;
  BitTable table_;
  TrellisDecoder trellis_;
  Complex scaled_[kMostTones];  // points of a symbol, in the table's order and units
  uint8_t cosets_[kMostTones]{};
  ReceivePath path_;
  int count_ = 0;
  uint8_t superframe_ = 0;
  float error_[kMostTones]{}, margin_[kMostTones]{};
  float least_margin_ = 0;
  int weak_ = 0;                                // quarters of superframes without margin
  int since_change_ = 0, waited_ = 0;           // superframes
  bool asking_ = false, acknowledged_ = false;  // request_ is repeated; it was received
  uint8_t swap_at_ = 0;                         // superframe, of the acknowledgement
  SwapRequest request_, far_request_;
  bool far_asks_ = false;
  uint32_t swapped_bits_ = 0;
  uint8_t operation_[kOperationOctets]{};
  bool announced_ = false, live_ = false, block_error_ = false;
  int missing_ = 0, wrong_ = 0;  // consecutive synchronization symbols and CRCs
  uint32_t superframes_ = 0, crc_errors_ = 0, far_crc_errors_ = 0, bad_syncs_ = 0, spoiled_ = 0;
};

}  // namespace offhook::dmt
