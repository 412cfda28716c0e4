// SPDX-License-Identifier: MIT
//
// Pages of T.38 in captured packets: calls between two terminals of spandsp, decoded from their datagrams.
#include "src/decode/line/t38.h"

#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <functional>
#include <memory>

#include "offhook/decode.h"
#include "src/decode/call/call.h"
#include "src/decode/line/rtp.h"
#include "src/decode/presentation/notes.h"
#include "tests/unit/src/decode/fax/fax_calls.h"

namespace offhook::decode {
namespace {

using test::Folder;
using Octets = std::vector<std::uint8_t>;

struct T38Call {
  int version = 0;
  bool error_correction = true;
  int redundancy = 3;  ///< earlier packets in each datagram
  bool test_by_gateways = false;
  /// @param number  of the datagram in its direction  @return whether it is lost
  std::function<bool(bool caller, unsigned number)> lost = [](bool, unsigned) { return false; };
};

void put16(Octets& o, unsigned v) {
  o.push_back(static_cast<std::uint8_t>(v >> 8));
  o.push_back(static_cast<std::uint8_t>(v));
}

void put_open(Octets& o, const Octets& content) {
  if (content.size() < 0x80) {
    o.push_back(static_cast<std::uint8_t>(content.size()));
  } else {
    put16(o, 0x8000 | static_cast<unsigned>(content.size()));
  }
  o.insert(o.end(), content.begin(), content.end());
}

Octets ip_packet(bool caller, const Octets& payload) {
  Octets o;
  const auto size = static_cast<unsigned>(payload.size());
  for (const unsigned v : {0x4500U, 28 + size, 0U, 0x4000U, 0x4011U, 0U}) put16(o, v);
  const std::uint8_t from = caller ? 1 : 2;
  o.insert(o.end(), {10, 0, 0, from, 10, 0, 0, static_cast<std::uint8_t>(3 - from)});
  for (const unsigned v : {4000U + from, 4003U - from, 8 + size, 0U}) put16(o, v);
  o.insert(o.end(), payload.begin(), payload.end());
  return o;
}

/// Gives the datagrams that the capture has to a reader. The terminals themselves lose nothing.
class T38Terminals {
 public:
  T38Terminals(const T38Call& call, const std::string& sent, const std::string& received, RtpReader& capture)
      : call_(call), capture_(capture) {
    for (End& end : ends_) {
      end.owner = this;
      end.state = t38_terminal_init(nullptr, end.caller(), send, &end);
      t38_terminal_set_fill_bit_removal(end.state, 0);
      t38_core_state_t* core = t38_terminal_get_t38_core_state(end.state);
      t38_set_t38_version(core, call.version);
      t38_set_data_rate_management_method(
          core, call.test_by_gateways ? T38_DATA_RATE_MANAGEMENT_LOCAL_TCF : T38_DATA_RATE_MANAGEMENT_TRANSFERRED_TCF);
      t30_state_t* t30 = t38_terminal_get_t30_state(end.state);
      t30_set_supported_modems(t30, T30_SUPPORT_V17 | T30_SUPPORT_V29 | T30_SUPPORT_V27TER);
      t30_set_supported_compressions(
          t30, T30_SUPPORT_T4_1D_COMPRESSION | T30_SUPPORT_T4_2D_COMPRESSION | T30_SUPPORT_T6_COMPRESSION);
      t30_set_ecm_capability(t30, call.error_correction);
      if (end.caller()) t30_set_tx_file(t30, sent.c_str(), -1, -1);
      if (!end.caller()) t30_set_rx_file(t30, received.c_str(), -1);
      t30_set_phase_e_handler(
          t30, [](t30_state_t*, void* of, int code) { static_cast<End*>(of)->good = code == T30_ERR_OK; }, &end);
    }
  }
  ~T38Terminals() {
    for (End& end : ends_) t38_terminal_free(end.state);
  }
  T38Terminals(const T38Terminals&) = delete;
  T38Terminals& operator=(const T38Terminals&) = delete;

  /// @return whether both ended without an error
  bool run() {
    constexpr int kBlock = 160, kMost = 8000 * 300;
    for (int samples = 0; samples < kMost && !(ends_[0].good && ends_[1].good); samples += kBlock) {
      t_ = 100 + samples / 8000.0;
      for (End& end : ends_) {
        t38_terminal_send_timeout(end.state, kBlock);
        auto& in = end.in;
        for (; !in.empty(); in.pop_front()) {
          t38_core_rx_ifp_packet(t38_terminal_get_t38_core_state(end.state), in.front().second.data(),
                                 static_cast<int>(in.front().second.size()), in.front().first);
        }
      }
    }
    return ends_[0].good && ends_[1].good;
  }

 private:
  struct End {
    T38Terminals* owner = nullptr;
    t38_terminal_state_t* state = nullptr;
    bool good = false;
    unsigned number = 0;
    std::deque<Octets> before{};  // the latest first
    std::deque<std::pair<std::uint16_t, Octets>> in{};
    bool caller() const { return this == &owner->ends_[0]; }
  };

  static int send(t38_core_state_t*, void* of, const std::uint8_t* octets, int size, int) {
    auto& end = *static_cast<End*>(of);
    end.owner->datagram(end, {octets, octets + size});
    return 0;
  }
  void datagram(End& end, Octets ifp) {
    End& far = ends_[end.caller() ? 1 : 0];
    far.in.emplace_back(static_cast<std::uint16_t>(end.number), ifp);
    Octets o;
    put16(o, end.number);
    put_open(o, ifp);
    o.push_back(0);
    o.push_back(static_cast<std::uint8_t>(end.before.size()));
    for (const Octets& b : end.before) put_open(o, b);
    end.before.push_front(std::move(ifp));
    if (static_cast<int>(end.before.size()) > call_.redundancy) end.before.pop_back();
    if (!call_.lost(end.caller(), end.number++))
      capture_.packet(static_cast<int>(LinkType::kRaw), t_, ip_packet(end.caller(), o));
  }

  T38Call call_;
  RtpReader& capture_;
  double t_ = 0;
  End ends_[2];
};

struct Decoded {
  bool complete = false;
  std::uint32_t equal = 0;
  Call call;
};

/// @param pages  of 120 lines
Decoded decode_t38(const T38Call& call, std::uint32_t pages = 2) {
  const Folder folder;
  fax::write_test_pages(folder / "sent.tif", pages, 120, 1);
  RtpReader reader;
  Decoded d;
  d.complete = T38Terminals(call, folder / "sent.tif", folder / "received.tif", reader).run();
  EXPECT_EQ(reader.find_calls(), 1U);
  d.call = analyse(reader.read(0, "fax.pcap"));
  const std::vector<std::uint8_t> tiff = fax_tiff(d.call);
  std::ofstream(folder / "decoded.tif", std::ios::binary)
      .write(reinterpret_cast<const char*>(tiff.data()), static_cast<std::streamsize>(tiff.size()));
  d.equal = fax::whole_pages(folder / "sent.tif", folder / "decoded.tif");
  return d;
}

TEST(DecodeT38Pages, PagesAreEqualInBothVersionsWithAndWithoutErrorCorrection) {
  for (const int version : {0, 3}) {
    for (const bool error_correction : {true, false}) {
      for (const bool test_by_gateways : {true, false}) {
        SCOPED_TRACE(testing::Message() << version << error_correction << test_by_gateways);
        const Decoded d = decode_t38(
            {.version = version, .error_correction = error_correction, .test_by_gateways = test_by_gateways});
        EXPECT_TRUE(d.complete);
        EXPECT_EQ(d.equal, 2U);
        EXPECT_TRUE(d.call.is_fax());
        const std::vector<FaxPage>& pages = d.call.fax.sent.pages;
        ASSERT_EQ(pages.size(), 2U);
        EXPECT_EQ(pages[1].format.error_correction, error_correction);
        EXPECT_EQ(pages[1].end, error_correction ? "PPS-EOP" : "EOP");
        EXPECT_EQ(pages[1].response, "MCF");
        for (const FaxPage& page : pages) EXPECT_TRUE(page.whole());
        ASSERT_EQ(d.call.recording.t38_streams.size(), 2U);
        for (const T38Stream& s : d.call.recording.t38_streams) {
          EXPECT_EQ(s.version, version);
          EXPECT_EQ(s.lost + s.recovered, 0U);
        }
      }
    }
  }
}

TEST(DecodeT38Pages, RedundancyMakesUpForLossesAndItsWorkIsCounted) {
  const Decoded d =
      decode_t38({.error_correction = false, .lost = [](bool, unsigned n) { return n % 5 == 2 || n % 20 == 3; }});
  EXPECT_EQ(d.equal, 2U);
  std::size_t recovered = 0;
  for (const T38Stream& s : d.call.recording.t38_streams) {
    recovered += s.recovered;
    EXPECT_EQ(s.lost, 0U);
  }
  EXPECT_GT(recovered, 20U);
}

TEST(DecodeT38Pages, WhatRedundancyDoesNotMakeUpForIsNamed) {
  for (const bool error_correction : {true, false}) {
    SCOPED_TRACE(error_correction);
    unsigned last = 0;
    const Decoded whole = decode_t38({.error_correction = error_correction,
                                      .redundancy = 0,
                                      .lost =
                                          [&](bool caller, unsigned n) {
                                            if (caller) last = n;
                                            return false;
                                          }},
                                     1);
    EXPECT_EQ(whole.equal, 1U);
    const unsigned middle = last / 2;  // within the page
    const Decoded d = decode_t38({.error_correction = error_correction,
                                  .redundancy = 0,
                                  .lost = [&](bool caller, unsigned n) { return caller && n == middle; }},
                                 1);
    EXPECT_EQ(d.equal, 0U);
    ASSERT_EQ(d.call.fax.sent.pages.size(), 1U);
    EXPECT_FALSE(d.call.fax.sent.pages[0].whole());
    const std::vector<T38Stream>& streams = d.call.recording.t38_streams;
    EXPECT_EQ(streams[0].lost + streams[1].lost, 1U);
    int lost = 0;
    for (const FaxCarrier& c : d.call.fax.sent.carriers) lost += c.lost_packets;
    EXPECT_EQ(lost, 1);
    bool noted = false;
    for (const std::string& note : notes(d.call))
      noted |= note.find(", 1 lost, 0 more made up for") != std::string::npos;
    EXPECT_TRUE(noted);
  }
}

TEST(DecodeT38Pages, UdptlIsReadToItsLastOctet) {
  const Octets indicator{0, 0, 1, 0x02, 0, 0};
  EXPECT_TRUE(is_udptl(indicator));
  for (Octets other : {Octets{}, Octets{0, 0, 1}, Octets{0, 0, 1, 0x02, 0, 0, 0}, Octets{0, 0, 2, 0x02, 0, 0},
                       Octets{0, 0, 1, 0x2F, 0, 0}, Octets{0x12, 0x34, 1, 0, 0, 1, 0, 0}})
    EXPECT_FALSE(is_udptl(other)) << other.size();
}

}  // namespace
}  // namespace offhook::decode
