// SPDX-License-Identifier: MIT
//
// Data mode of one direction: frames to points and back, 68 data symbols and a synchronization symbol (REVERB), again
// and again.
//
// The port's bits begin where both ends agree that they do: the transmitter says in an indicator bit of one superframe
// that the payload of the next one is the port's; before that it is zeros, which the receiver keeps to itself.
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/dmt/coding/frame.h"
#include "dsp/dmt/coding/tones.h"
#include "dsp/dmt/procedure/loading.h"
#include "dsp/dmt/signal/receiver.h"
#include "offhook/pump.h"

namespace offhook::dmt {

/// Indicator bits, each 1 unless it has something to say but for kLive. Chosen here.
inline constexpr uint32_t kFarBlockError = 1u << 8;  ///< 0: a CRC was wrong in what this end received
inline constexpr uint32_t kLive = 1u << 20;          ///< 1: the next superframe's payload is the port's

class DataTransmitter {
 public:
  explicit DataTransmitter(const Band& band);
  void begin(const Loading& loading);
  /// The points of the next symbol. @param live  the port's bits may be taken  @param block_error  of what is received
  /// @return bits taken from the port. Real-time: yes, O(bits of a symbol; a word every S symbols).
  int symbol(const oh_bit_port& port, bool live, bool block_error, Complex* points);

 private:
  const Band band_;
  Complex reverb_[kMostTones];
  BitTable table_;
  float scale_[16]{};  // of a constellation of so many bits to unit power
  TransmitPath path_;
  PathParameters parameters_;
  int count_ = 0;  // symbols of the superframe
  bool announced_ = false, live_ = false;
  uint32_t indicators_ = 0;
};

class DataReceiver {
 public:
  explicit DataReceiver(const Band& band);
  void begin(const Loading& loading);
  /// One symbol of `receiver`. @return bits given to the port. Real-time: as DataTransmitter.
  int symbol(Receiver* receiver, const oh_bit_port& port);

  bool block_error() const { return block_error_; }  ///< of the newest superframe
  /// The synchronization symbol has been missing, or every CRC wrong, for too long.
  bool lost() const;

  uint32_t superframes() const { return superframes_; }
  uint32_t crc_errors() const { return crc_errors_; }
  uint32_t far_crc_errors() const { return far_crc_errors_; }
  uint32_t bad_syncs() const { return bad_syncs_; }
  uint32_t spoiled_symbols() const { return spoiled_; }
  uint32_t corrected_octets() const { return path_.corrected_octets(); }
  uint32_t lost_words() const { return path_.lost_words(); }

 private:
  void sync(Receiver* receiver);
  void decide(Receiver* receiver, uint8_t* octets);

  const Band band_;
  Complex reverb_[kMostTones];
  BitTable table_;
  float scale_[16]{};
  ReceivePath path_;
  PathParameters parameters_;
  int count_ = 0;
  bool announced_ = false, live_ = false, block_error_ = false;
  int missing_ = 0, wrong_ = 0;  // synchronization symbols, CRCs in a row
  uint32_t superframes_ = 0, crc_errors_ = 0, far_crc_errors_ = 0, bad_syncs_ = 0, spoiled_ = 0;
};

}  // namespace offhook::dmt
