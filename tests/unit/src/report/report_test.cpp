// SPDX-License-Identifier: MIT
#include "src/report/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "driver/base/output.h"
#include "hostsim/call/subscriber_call.h"
#include "src/page/page.h"
#include "src/report/words.h"
#include "tests/report/synthetic_call.h"

using namespace offhook;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

namespace {

Figures figures_of(const test::SyntheticCall& call) {
  Analyzer analyzer;
  test::synthesise(call, [&](const oh_event& event) { analyzer.add(event); });
  return analyzer.finish();
}

CallReport described() {
  CallReport call;
  call.title = "a call";
  call.entities = {{test::kClockIsr, "clock"},
                   {test::kModemIsr, "modem isr"},
                   {test::kServiceThread, "modem"},
                   {test::kSpinner, "spinner"}};
  call.transmit_lead_samples = 210;
  return call;
}

}  // namespace

TEST(ReportWords, NumbersAndLists) {
  EXPECT_EQ(grouped(7), "7");
  EXPECT_EQ(grouped(123), "123");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"a"}), "a");
  EXPECT_EQ(listed({"a", "b", "c"}), "a, b and c");
}

TEST(ReportVerdict, SaysByWhatMarginACallWasSufficient) {
  CallReport call = described();
  call.run.emplace().bytes = 200'000;
  call.run->complete = true;
  call.run->transfer_s = 36.4;
  call.run->reference = {"INT", true, false, 36.0};
  const CallVerdict verdict = judge(call, figures_of({.seconds = 5}));
  EXPECT_EQ(verdict.verdict, Verdict::kSufficient);
  EXPECT_THAT(verdict.headline, HasSubstr("no sample was lost"));
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("1.1 % slower than the same call in INT, the reference (36.00 s)")));
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("of the 210 samples of transmit lead were used")));
}

TEST(ReportVerdict, NamesWhoHadTheCpuBeforeTheFirstLoss) {
  CallReport call = described();
  call.run.emplace().bytes = 200'000;
  call.run->complete = false;
  const CallVerdict verdict = judge(call, figures_of({.seconds = 5, .starved = true}));
  EXPECT_EQ(verdict.verdict, Verdict::kInsufficient);
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("The transfer did not complete")));
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("Output was late")));
  EXPECT_THAT(verdict.reasons, Contains(HasSubstr("the CPU ran spinner ")));
}

// The log has the received data of this end's user: of two files, one in each direction, less than the run counts.
TEST(ReportVerdict, SaysAsManyBytesArrivedAsTheRunCounts) {
  CallReport call = described();
  call.run.emplace().bytes = 200'000;
  call.run->complete = false;
  call.run->bytes = 16'000;
  call.run->bytes_delivered = 8000;
  const Figures figures = figures_of({.seconds = 2});
  EXPECT_THAT(judge(call, figures).reasons, Contains(HasSubstr("did not complete: 8,000 of 16,000 bytes arrived")));
}

TEST(ReportVerdict, ATransferFarBelowTheLinesRateIsMarginal) {
  CallReport call = described();
  call.run.emplace().bytes = 200'000;
  call.run->complete = true;
  call.run->at_line_rate_s = 23;
  const Figures figures = figures_of({.seconds = 2});
  call.run->transfer_s = 185;
  const CallVerdict slow = judge(call, figures);
  EXPECT_EQ(slow.verdict, Verdict::kMarginal);
  EXPECT_EQ(slow.headline, "Marginal: the file arrived, but slowly for the line's bit rate.");
  EXPECT_THAT(slow.reasons, Contains(HasSubstr("in 185.00 s; the bit rate of the line needs 23.00 s.")));
  call.run->transfer_s = 46;
  EXPECT_EQ(judge(call, figures).verdict, Verdict::kSufficient);
  call.run->transfer_s = 49;
  EXPECT_EQ(judge(call, figures).verdict, Verdict::kMarginal);
  call.run->at_line_rate_s = 0.1;  // a few frames: most of the time is the window's start and the last acknowledgement
  call.run->transfer_s = 2.5;
  EXPECT_EQ(judge(call, figures).verdict, Verdict::kSufficient);
}

TEST(ReportVerdict, ASlowTransferIsMarginal) {
  CallReport call = described();
  call.run.emplace().bytes = 200'000;
  call.run->complete = true;
  call.run->transfer_s = 65;
  call.run->reference = {"INT", true, false, 36};
  EXPECT_EQ(judge(call, figures_of({.seconds = 2})).verdict, Verdict::kMarginal);
}

// "Wrong data arrived" and "0 bits wrong" in both directions exclude each other, for any counts.
TEST(ReportVerdict, WrongDataHaveWrongBitsAndWrongSuperframesAloneAreNamedSo) {
  for (const std::uint64_t wrong_bits : {0, 7}) {
    for (const std::uint32_t crc_errors : {0u, 3u}) {
      CallReport call = described();
      call.run.emplace().complete = false;
      auto dmt = std::make_shared<hostsim::DmtStatus>();
      dmt->trained_s = 1.4;
      dmt->in_data = true;
      dmt->trainings = 1;
      dmt->down.bits = dmt->up.bits = 1000;
      dmt->up.wrong_bits = wrong_bits;
      dmt->up.pump.crc_errors = crc_errors;
      call.run->dmt = dmt;
      const CallVerdict verdict = judge(call, figures_of({.seconds = 5}));
      std::string text = verdict.headline;
      for (const std::string& reason : verdict.reasons) text += "\n" + reason;
      EXPECT_EQ(text.find("wrong data arrived") != std::string::npos, wrong_bits > 0) << text;
      EXPECT_EQ(text.find("superframes were wrong") != std::string::npos, wrong_bits == 0 && crc_errors > 0) << text;
      EXPECT_THAT(text, HasSubstr(std::to_string(wrong_bits) + " of 1,000 bits wrong"));
      EXPECT_EQ(dmt->intact(), wrong_bits == 0 && crc_errors == 0);
    }
  }
}

TEST(ReportVerdict, ALogAloneGetsNoClass) {
  const CallVerdict verdict = judge(described(), figures_of({.seconds = 2}));
  EXPECT_FALSE(verdict.verdict.has_value());
  EXPECT_EQ(verdict.headline, "No sample was lost.");
}

TEST(ReportPage, TextIsNeverMarkup) {
  CallReport call = described();
  const std::string hostile = "</script><script>alert(1)</script><!-- & \"quoted\"";
  call.title = hostile;
  call.settings = {{hostile, hostile}};
  call.entities[test::kSpinner] = hostile;
  call.warnings = {hostile, "not UTF-8: \xff\xfe"};
  const std::string page = call_page(call, figures_of({.seconds = 1}));
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;"));
  EXPECT_EQ(html_escape("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
}

TEST(ReportPage, NothingTurnsTheDirectionOfText) {
  CallReport call = described();
  call.title = "gnp.\u202etxt";
  call.settings = {{"name", "a\u2066b"}};
  const std::string page = call_page(call, figures_of({.seconds = 1}));
  EXPECT_THAT(page, Not(HasSubstr("\u202e")));
  EXPECT_THAT(page, Not(HasSubstr("\u2066")));
  EXPECT_THAT(page, HasSubstr("<title>gnp.\\xe2\\x80\\xaetxt"));
  EXPECT_THAT(page, HasSubstr("a\\\\xe2\\\\x81\\\\xa6b")) << "in JSON";
}

TEST(ReportPage, AsksForNothingFromOutside) {
  const std::string page = call_page(described(), figures_of({.seconds = 1}));
  for (const char* loader : {" src=", "<link", "@import", "fetch(", "sourceMappingURL"}) {
    EXPECT_THAT(page, Not(HasSubstr(loader))) << loader;
  }
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy\" content=\"default-src 'none'"));
}

TEST(ReportPage, TenMinutesStayBelowThreeMegabytes) {
  EXPECT_LT(call_page(described(), figures_of({.seconds = 600})).size(), 3'000'000u);
  EXPECT_LT(call_page(described(), figures_of({.seconds = 600, .starved = true})).size(), 3'000'000u);
}

TEST(ReportPage, SameInputSameBytes) {
  EXPECT_EQ(call_page(described(), figures_of({.seconds = 3})), call_page(described(), figures_of({.seconds = 3})));
}

TEST(ReportPage, SweepComparesWithThePublishedClasses) {
  SweepReport sweep;
  sweep.title = "sweep";
  SweepRow row;
  row.name = "RES 2/14";
  row.result.verdict = Verdict::kMarginal;
  row.published = SweepRow::Published{Verdict::kMarginal, 65.172, "2 of 10"};
  sweep.rows = {row};
  EXPECT_THAT(sweep_page(sweep), HasSubstr("1 configuration with a published class: all are in that class."));
  sweep.rows[0].result.verdict = Verdict::kSufficient;
  EXPECT_THAT(sweep_page(sweep), HasSubstr("RES 2/14 (sufficient, published marginal)"));
}

TEST(ReportPage, SweepSaysWhereTheLawIsRight) {
  SweepReport sweep;
  sweep.title = "sweep";
  sweep.device = DeviceTiming{.transmit_lead_samples = 210, .cost_ms = 1.74};
  for (const auto& [y, verdict] :
       {std::pair{8, Verdict::kSufficient}, {15, Verdict::kInsufficient}, {7, Verdict::kMarginal}}) {
    SweepRow row;
    row.name = fmt::format("RES 2/{}", y);
    row.reservation = SweepRow::Reservation{2, static_cast<double>(y)};
    row.result.verdict = verdict;
    sweep.rows.push_back(row);
  }
  EXPECT_THAT(sweep_page(sweep), HasSubstr("are sufficient for 2 of 3 reservations; not for RES 2/7."));
}

TEST(ReportPage, AFullDiskIsSaid) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  try {
    write_file("/dev/full", std::string(1 << 16, 'x'));
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/dev/full"));
    EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
  }
}
