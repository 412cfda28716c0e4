// SPDX-License-Identifier: MIT
//
// Speech of G.711 in captured packets: which packets are RTP (RFC 3550), which of them belong together, and the samples
// of both directions of a call on the clock of the capture.
//
// A stream is all RTP packets of payload type 0 or 8 (RFC 3551) with the same addresses, ports and SSRC. Its sequence
// numbers and timestamps must fit the sizes of the packets, which other traffic does not do by chance. Samples are
// placed at the timestamps of their packets; lost ones are silence. The fastest packets define the start of a stream:
// the least difference of arrival and timestamp. Two streams with each other's addresses are the two directions of one
// call, and so are two streams to the places that the offer and the answer of a call of SIP name. SIP also names the
// dynamic payload types of G.711 or clear mode (RFC 4040), and the address of T.38. Without SIP, T.38 is found by its
// heads: datagrams that are UDPTL to the last octet, with a good frame of T.30. Both directions of T.38 belong to the
// call of the same addresses, or are a call without speech. Octets of clear mode are read by the law that gives the
// smoother signal. Telephone events (RFC 4733, RFC 4734) in packets of a dynamic payload type are listed, at their
// time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/decode/line/recording.h"
#include "src/decode/line/sip.h"
#include "src/decode/line/sip_tcp.h"
#include "src/decode/line/t38.h"

namespace offhook::decode {

/// The head before IP, as libpcap numbers it (DLT). Files have other numbers for some: raw IP is 101 there.
enum class LinkType {
  kNull = 0,
  kEthernet = 1,
  kRaw = 12,
  kLoop = 108,
  kLinuxSll = 113,
  kIpv4 = 228,
  kIpv6 = 229,
  kLinuxSll2 = 276
};

class RtpReader {
 public:
  RtpReader() = default;
  RtpReader(const RtpReader&) = delete;
  RtpReader& operator=(const RtpReader&) = delete;

  /// @param link_type  as libpcap's DLT; others than those of LinkType carry nothing
  /// @param t  s, of the capture's clock  @throws std::runtime_error beyond kMostOctets
  void packet(int link_type, double t, std::span<const std::uint8_t> bytes);

  /// Find the calls among the packets so far. @return their number  @throws std::runtime_error beyond kMostCalls
  std::size_t find_calls();
  /// The Kth call in order of their beginnings. A stream without a partner is a call of one channel, and T.38 alone two
  /// channels of silence. Recording::start_s counts from the first packet of the capture. Its packets are forgotten:
  /// each call is read once.
  Recording read(std::size_t k, const std::string& name);

  /// Packets of UDP so far.
  std::size_t datagrams() const { return datagrams_; }

  static constexpr std::size_t kMostOctets = std::size_t{150} << 20, kMostCalls = 10000, kMostFaxes = 10000;

 private:
  using Address = IpPlace;
  struct Key {
    Address from, to;
    std::uint32_t ssrc = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Packet {
    double t = 0;
    std::uint32_t timestamp = 0;
    std::uint32_t at = 0;  // of its payload in Packets::octets
    std::uint16_t sequence = 0;
    std::uint16_t size = 0;  // of its payload, octets
    PayloadCodec codec = PayloadCodec::kMuLaw;
    bool is_event() const { return codec == PayloadCodec::kEvents; }  // not speech
  };
  // One block for the payloads of all packets: an allocation for each would cost as much again.
  struct Packets {
    std::vector<Packet> heads;
    std::vector<std::uint8_t> octets;
    std::span<const std::uint8_t> payload(const Packet& p) const { return std::span(octets).subspan(p.at, p.size); }
  };
  using Stream = std::pair<const Key, Packets>;
  // T.38 of one direction. If SIP does not name the version, both are tried.
  struct Fax {
    std::optional<std::size_t> sip;
    std::vector<T38Reader> readers;
    std::size_t good_frames() const;  // by the reader that has most
  };
  using FaxKey = std::tuple<Address, Address, std::optional<std::size_t>>;  // sender, receiver, call of SIP
  struct FoundCall {
    std::vector<Stream*> streams;  // none, one or two
    std::vector<std::pair<const FaxKey, Fax>*> faxes;
    std::optional<std::size_t> sip;
    std::size_t fax_reader = 0;  // of the version that fits both directions
    double begin_t() const;
    T38Reader& reader(Fax& fax) const { return fax.readers[std::min(fax_reader, fax.readers.size() - 1)]; }
    void choose_version();
  };
  struct Assembled;

  void ip(double t, std::span<const std::uint8_t> bytes);
  void udp(double t, Address from, Address to, std::span<const std::uint8_t> bytes);
  void count(std::size_t octets);
  static bool is_speech(const std::vector<Packet>& packets);
  static std::map<std::int64_t, const Packet*> in_order(const std::vector<Packet>& packets, RtpStream& s);
  static std::size_t silence_before(const Packet& p, const Packet& before, std::int64_t lost, bool events, double t,
                                    RtpStream& s);
  static void add_events(std::span<const std::uint8_t> payload, double t, RtpStream& s);
  static Assembled assemble(const Stream& stream);
  std::optional<PayloadCodec> codec_of(int type, const Address& to, double t) const;
  std::optional<std::size_t> sip_call_of(const Stream& stream) const;
  bool t38(double t, const Address& from, const Address& to, std::span<const std::uint8_t> bytes);
  void find_speech();
  void find_faxes();
  void add_speech(FoundCall& call, double& begin_t, Recording& r);
  static void add_faxes(FoundCall& call, double begin_t, const std::vector<Address>& from, Recording& r);

  std::map<Key, Packets> streams_;
  std::vector<FoundCall> calls_;
  SipReader sip_;
  SipTcpReader sip_tcp_{sip_};
  std::map<FaxKey, Fax> faxes_;
  std::size_t datagrams_ = 0, octets_ = 0;
  double first_t_ = -1;
};

}  // namespace offhook::decode
