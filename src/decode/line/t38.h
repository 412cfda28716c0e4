// SPDX-License-Identifier: MIT
//
// T.38 in captured packets: UDPTL, the frames of T.30 at 300 bit/s in its internet facsimile packets, and the carriers
// of pages: bits without error correction, frames of HDLC with it (driver/base/udptl.h, driver/base/ifp.h). Redundant
// packets of UDPTL are used if the packet itself was lost.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "driver/base/udptl.h"
#include "src/decode/line/recording.h"

namespace offhook::decode {

/// Whether a datagram is UDPTL to its last octet, and its packet one of T.38 in one of both packings.
bool is_udptl(std::span<const std::uint8_t> datagram);

/// One direction of a call of T.38.
class T38Reader {
 public:
  /// @param version  T38FaxVersion: version 0 packs the types of fields in another way
  explicit T38Reader(int version) : version_(version) { counts_.version = version; }

  /// @param udptl  any octets
  void packet(double t, std::span<const std::uint8_t> udptl);
  /// In order of time, with the octets in the bit order of T.30.
  std::vector<T38Frame> take() { return std::move(frames_); }
  std::vector<T38Carrier> take_carriers();

  std::size_t good_frames() const { return good_frames_; }  ///< of T.30 and of pages
  /// Packets that are none of this version: they cannot be read, data are without octets, or check sequences have some.
  std::size_t unfit() const { return unfit_; }
  double first_t() const { return first_t_; }  ///< s, of the first packet
  double last_t() const { return last_t_; }
  T38Stream counts() const { return counts_; }  ///< without addresses and channel

  static constexpr std::size_t kMostFrames = 10000, kMostCarriers = 10000;

 private:
  void ifp(double t, std::span<const std::uint8_t> bytes);
  void indicator(double t, int which);
  void field(double t, int type, std::span<const std::uint8_t> data);
  void page_field(double t, int data_type, int type, std::span<const std::uint8_t> data);
  T38Carrier& carrier(double t, int data_type);
  void lose(std::size_t packets);
  bool end_frame();

  int version_;
  T38Stream counts_;
  UdptlReader reader_;
  double first_t_ = 0, last_t_ = 0;
  double begun_ = 0;                  // s, of the frame that is being received
  std::vector<std::uint8_t> octets_;  // of that frame
  bool incomplete_ = false;           // a packet was lost within it
  bool begins_unsure_ = false;        // a packet was lost before it, perhaps with its first octets
  bool in_carrier_ = false;           // the last carrier has not ended
  std::size_t good_frames_ = 0, unfit_ = 0;
  std::vector<T38Frame> frames_;
  std::vector<T38Carrier> carriers_;
};

}  // namespace offhook::decode
