// SPDX-License-Identifier: MIT
// Class 2.0 at one end; T.30 of spandsp, or class 2.0 too, at the other one.
#include "driver/fax/class2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "driver/fax/tiff.h"
#include "tests/unit/driver/fax/fax_line.h"
#include "tests/unit/driver/fax/fax_pages.h"

namespace offhook::fax {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// A page of one strip, coded by T.4 in one dimension.
void begin_page(TIFF* out, std::uint32_t width, std::uint32_t lines) {
  TIFFSetField(out, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(out, TIFFTAG_IMAGELENGTH, lines);
  TIFFSetField(out, TIFFTAG_BITSPERSAMPLE, 1);
  TIFFSetField(out, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX3);
  TIFFSetField(out, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
  TIFFSetField(out, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB);
  TIFFSetField(out, TIFFTAG_ROWSPERSTRIP, lines);
}

/// The coded lines of a page of a TIFF file in one dimension, the first bit of an octet in the most significant place.
std::string coded(const std::string& path, int page, const std::string& scratch) {
  TIFF* in = TIFFOpen(path.c_str(), "r");
  TIFFSetDirectory(in, static_cast<tdir_t>(page));
  std::uint32_t width = 0, lines = 0;
  TIFFGetField(in, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(in, TIFFTAG_IMAGELENGTH, &lines);
  TIFF* out = TIFFOpen(scratch.c_str(), "w");
  begin_page(out, width, lines);
  std::vector<std::uint8_t> line(static_cast<std::size_t>(TIFFScanlineSize(in)));
  for (std::uint32_t k = 0; k < lines; ++k) {
    TIFFReadScanline(in, line.data(), k, 0);
    TIFFWriteScanline(out, line.data(), k, 0);
  }
  TIFFClose(in);
  TIFFClose(out);
  TIFF* again = TIFFOpen(scratch.c_str(), "r");
  std::string octets(static_cast<std::size_t>(TIFFRawStripSize64(again, 0)), 0);
  TIFFReadRawStrip(again, 0, octets.data(), static_cast<tmsize_t>(octets.size()));
  TIFFClose(again);
  return octets;
}

std::uint32_t ends_of_lines(const std::string& octets) {
  std::uint32_t zeros = 0, ends = 0;
  for (const char c : octets)
    for (int k = 7; k >= 0; --k) {
      const bool bit = (static_cast<unsigned char>(c) >> k & 1) != 0;
      if (bit && zeros >= 11) ++ends;
      zeros = bit ? 0 : zeros + 1;
    }
  return ends;
}

/// Writes pages of coded lines as a TIFF file.
void write_pages(const std::string& path, const std::vector<std::string>& pages, std::uint32_t lines) {
  TIFF* out = TIFFOpen(path.c_str(), "w");
  for (const std::string& page : pages) {
    begin_page(out, 1728, lines);
    std::string octets = page;
    TIFFWriteRawStrip(out, 0, octets.data(), static_cast<tmsize_t>(octets.size()));
    TIFFWriteDirectory(out);
  }
  TIFFClose(out);
}

oh_pump pump_of(void* self) {
  return {pump_type()->process, pump_type()->report_gap, self};
}

/// A program at a modem of class 2.0: what it hears, and the pages in it.
struct Program {
  explicit Program(oh_pump_role role, Class2Config config = {})
      : pump(make_pump(role)), modem(pump.get(), with_reports(std::move(config))) {}
  static Class2Config with_reports(Class2Config config) {
    config.reversed = config.tells_far = config.tells_session = config.tells_ident = true;
    return config;
  }
  /// @return whether an operation has ended, or data may flow
  std::optional<Outcome> serve() {
    modem.poll();
    const std::string now(modem.octets());
    modem.drop(now.size());
    heard += now;
    return modem.take_outcome();
  }
  void put(const std::string& page, char end) { to_send = stuffed(page) + std::string{kDle, end}; }
  void feed() {
    while (!to_send.empty() && modem.sends() && modem.room() > 0) {
      const std::size_t n = std::min(to_send.size(), modem.room());
      modem.put(to_send.substr(0, n));
      to_send.erase(0, n);
    }
  }
  /// Octets between CONNECT and DLE ETX.
  std::string page() const {
    std::string data;
    Unstuffer unstuffer;
    for (const char c : heard)
      if (unstuffer.put(c, data) == kEtx) return data;
    return "no end";
  }
  OwnPump pump;
  Class2 modem;
  std::string heard, to_send;
};

/// The sending program: as sendfax.
struct Sender : Program {
  Sender(std::vector<std::string> all, Class2Config config)
      : Program(OH_PUMP_CALL, std::move(config)), pages(std::move(all)) {
    modem.call();
  }
  void step() {
    const auto outcome = serve();
    feed();
    if (!outcome) return;
    results.push_back(*outcome);
    if (*outcome == Outcome::kOver) over = true;
    if (*outcome == Outcome::kConnect) put(pages[next], next + 1 == pages.size() ? '.' : ',');
    if (*outcome == Outcome::kOk && results.size() > 1) ++next;
    if ((*outcome == Outcome::kOk && next < pages.size()) || *outcome == Outcome::kError) modem.send_page();
  }
  std::vector<std::string> pages;
  std::size_t next = 0;
  std::vector<Outcome> results;
  bool over = false;
};

/// The receiving program: as mgetty.
struct Receiver : Program {
  explicit Receiver(Class2Config config) : Program(OH_PUMP_ANSWER, std::move(config)) { modem.answer(); }
  void step() {
    const auto outcome = serve();
    if (!outcome) return;
    if (*outcome == Outcome::kOver) over = true;
    if (*outcome == Outcome::kConnect) {
      before += std::exchange(heard, {});
      return;
    }
    if (*outcome != Outcome::kOk) return;
    if (!before.empty()) {
      const bool bad = refuses > 0;
      if (bad) --refuses;
      modem.judge_page(bad ? 2 : 1);
      if (!bad) pages.push_back(page());
      after += heard.substr(heard.find(std::string(kEndOfData)));
      heard.clear();
    }
    modem.receive_page();
  }
  std::string before, after;
  std::vector<std::string> pages;
  int refuses = 0;
  bool over = false;
};

constexpr double kLimitS = 200;

TEST(Class2, APageLineGetsFillAndThePageItsEnd) {
  PageLines lines;
  lines.begin(40, false);
  // EOL, a line of 5 bits, EOL, a line of 40 bits, EOL: the least significant bit first.
  std::string bits =
      "000000000001"
      "10110"
      "000000000001" +
      std::string(40, '1') + "000000000001";
  while (bits.size() % 8 != 0) bits += '0';
  std::string octets;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    int octet = 0;
    for (std::size_t k = 0; k < 8; ++k) octet |= (bits[i + k] - '0') << k;
    octets += static_cast<char>(octet);
  }
  lines.put(octets);
  lines.end();
  std::string sent;
  for (const char c : lines.take())
    for (int k = 0; k < 8; ++k) sent += (static_cast<unsigned char>(c) >> k & 1) != 0 ? '1' : '0';
  const std::string eol = "000000000001", fill(40 - 5 - 12, '0');
  EXPECT_THAT(sent, StartsWith(eol + "10110" + fill + eol + std::string(40, '1') + eol));
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = sent.find("00000000001", at)) != std::string::npos; at += 11) ++ends;
  EXPECT_EQ(ends, 2 + 6u) << "the EOL of the last line is the first one of RTC";
}

TEST(Class2, DisAndDcsSayWhatTheParametersSay) {
  const SessionParameters own{1, 5, 1, 2, 1, 0, 0, 3};
  Modulations offered;
  const SessionParameters read = parameters_of_dis(dis_of(own), &offered);
  EXPECT_EQ(read.text(), "1,5,1,2,1,0,0,3");
  EXPECT_TRUE(offered.v17);
  for (int rate = 0; rate < 6; ++rate) {
    const SessionParameters session = agreed({.bit_rate = rate, .format = 0}, read);
    Carrier carrier;
    const auto back = parameters_of_dcs(dcs_of(session, carrier_of(rate, offered)), &carrier);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->rate(), 2400u * static_cast<unsigned>(rate + 1));
    EXPECT_EQ(carrier.test_code, carrier_of(rate, offered).test_code);
    EXPECT_EQ(back->scan_time_ms(), 10);
  }
  EXPECT_EQ(carrier_of(3, {.v29 = true}).test_code, 96);
  EXPECT_EQ(ident_of(ident_information("+49 30 1234")), "+49 30 1234");
}

TEST(Class2, PagesArriveAtAFaxMachineAndEachIsConfirmed) {
  const Folder folder;
  write_test_pages(folder / "sent.tif", 2, 300, 1);
  Class2Config config;
  config.ident = "+49 30 1234";
  Sender a({coded(folder / "sent.tif", 0, folder / "x.tif"), coded(folder / "sent.tif", 1, folder / "x.tif")}, config);
  const OwnPump pump = make_pump(OH_PUMP_ANSWER);
  TerminalConfig machine;
  machine.calls = false;
  machine.receive = folder / "got.tif";
  machine.ident = "5551234";
  Terminal b(pump.get(), machine);
  LinePair line({}, pump_of(a.pump.get()), pump_of(pump.get()));
  while (!a.over && line.seconds() < kLimitS) {
    line.step();
    a.step();
    b.poll();
  }
  for (int k = 0; k < 800 && !b.progress().over; ++k) {
    line.step();
    a.step();
    b.poll();
  }
  EXPECT_THAT(a.heard, StartsWith("\r\n+FCO\r\n\r\n+FCI:\"5551234\"\r\n\r\n+FIS:1,5,2,2,1,0,0,"));
  EXPECT_THAT(a.heard, HasSubstr("\r\n+FCS:1,5,0,2,0,0,0,"));
  EXPECT_THAT(a.heard, EndsWith("\r\n+FHS:00\r\n"));
  EXPECT_EQ(a.results, (std::vector{Outcome::kOk, Outcome::kConnect, Outcome::kOk, Outcome::kConnect, Outcome::kOver}));
  EXPECT_TRUE(b.progress().complete) << b.progress().failure;
  EXPECT_EQ(b.progress().far_ident, "+49 30 1234");
  EXPECT_EQ(whole_pages(folder / "sent.tif", folder / "got.tif"), 2u);
}

TEST(Class2, PagesOfAFaxMachineArriveAtTheProgram) {
  const Folder folder;
  write_test_pages(folder / "sent.tif", 2, 300, 2);
  const OwnPump pump = make_pump(OH_PUMP_CALL);
  TerminalConfig machine;
  machine.send = folder / "sent.tif";
  machine.ident = "5551234";
  Terminal a(pump.get(), machine);
  Receiver b({});
  LinePair line({}, pump_of(pump.get()), pump_of(b.pump.get()));
  while ((!b.over || !a.progress().over) && line.seconds() < kLimitS) {
    line.step();
    a.poll();
    b.step();
  }
  EXPECT_TRUE(a.progress().complete) << a.progress().failure;
  EXPECT_EQ(a.progress().pages_sent, 2u);
  EXPECT_THAT(b.before, StartsWith("\r\n+FCO\r\n\r\n+FTI:\"5551234\"\r\n\r\n+FCS:"));
  EXPECT_THAT(b.after, HasSubstr("+FET:0"));
  EXPECT_THAT(b.after, HasSubstr("+FET:2"));
  EXPECT_THAT(b.heard, EndsWith("\r\n+FHS:00\r\n"));
  ASSERT_EQ(b.pages.size(), 2u);
  EXPECT_GE(ends_of_lines(b.pages[0]), 300u);
  write_pages(folder / "got.tif", b.pages, 300);
  EXPECT_EQ(whole_pages(folder / "sent.tif", folder / "got.tif"), 2u);
}

TEST(Class2, APageThatTheProgramRefusesIsSentAgainAtALowerRate) {
  const Folder folder;
  write_test_pages(folder / "sent.tif", 1, 200, 3);
  Sender a({coded(folder / "sent.tif", 0, folder / "x.tif")}, {});
  Receiver b({});
  b.refuses = 1;
  LinePair line({}, pump_of(a.pump.get()), pump_of(b.pump.get()));
  while ((!a.over || !b.over) && line.seconds() < kLimitS) {
    line.step();
    a.step();
    b.step();
  }
  EXPECT_TRUE(a.over && b.over);
  EXPECT_THAT(a.heard, HasSubstr("+FCS:1,5,"));
  EXPECT_THAT(a.heard, HasSubstr("+FCS:1,4,"));
  EXPECT_EQ(a.results,
            (std::vector{Outcome::kOk, Outcome::kConnect, Outcome::kError, Outcome::kConnect, Outcome::kOver}));
  ASSERT_EQ(b.pages.size(), 1u);
  write_pages(folder / "got.tif", b.pages, 200);
  EXPECT_EQ(whole_pages(folder / "sent.tif", folder / "got.tif"), 1u);
}

TEST(Class2, ALineThatDiesEndsTheCallWithACode) {
  const Folder folder;
  write_test_pages(folder / "sent.tif", 1, 200, 3);
  for (const double cut_s : {2.0, 9.0, 14.0}) {
    Sender a({coded(folder / "sent.tif", 0, folder / "x.tif")}, {});
    Receiver b({});
    LinePair line({}, pump_of(a.pump.get()), pump_of(b.pump.get()));
    while ((!a.over || !b.over) && line.seconds() < kLimitS) {
      line.cut(line.seconds() > cut_s);
      line.step();
      a.step();
      b.step();
    }
    EXPECT_TRUE(a.over && b.over) << cut_s;
    EXPECT_LT(line.seconds(), 60) << cut_s;
    EXPECT_THAT(a.heard, Not(HasSubstr("+FHS:00"))) << cut_s;
  }
}

}  // namespace
}  // namespace offhook::fax
