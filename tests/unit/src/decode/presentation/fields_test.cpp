// SPDX-License-Identifier: MIT
#include "src/decode/presentation/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "offhook/decode.h"

namespace offhook::decode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Call call_of_two_modems() {
  Call call;
  StartUp& s = call.start_up;
  s.call_channel = 0;
  s.answer_channel = 1;
  call.start_up.roles_from = "V.8";
  MenuHeard cm;
  cm.octets = {0xC1, 0x05};
  cm.menu.call_function = v8::CallFunction::kData;
  cm.menu.modulations = v8::kV34 | v8::kV22bis;
  s.v8.cm.push_back(cm);
  InfoHeard info0;
  info0.carrier_hz = 1200;
  v34::Info0 can{};
  can.supports_2743 = can.high_carrier_3000 = true;
  can.max_rate_difference = 2;
  info0.info = can;
  s.info.push_back(info0);
  InfoHeard info1 = info0;
  v34::Info1c c{};
  c.md_length = 2;
  c.frequency_offset = -50;
  c.probing[1] = {.carrier = v34::Carrier::kHigh, .pre_emphasis = 7, .max_rate = 9};
  info1.info = c;
  s.info.push_back(info1);
  s.probing.push_back({.channel = 1, .l1_to_l2 = 9.7, .frequency_hz = {150}, .tone_db = {-9.1}, .snr_db = {28.6}});
  Training t;
  t.from_2400.direction.channel = 1;
  MpHeard mp{};
  mp.t_first = 17.5;
  mp.mp.type1 = true;
  mp.mp.max_call_to_answer = 14;
  mp.mp.trellis = v34::TrellisCode::k64;
  mp.mp.rate_mask = 0b110000000;
  mp.mp.precoder.h[0] = {8192, -4096};
  Segment p;
  p.mp.push_back(mp);
  t.from_2400.segments.push_back(p);
  call.trainings.push_back(t);
  return call;
}

const FieldTable* table(const std::vector<FieldTable>& all, const std::string& title) {
  for (const FieldTable& t : all)
    if (t.title.starts_with(title)) return &t;
  ADD_FAILURE() << "no table " << title;
  return nullptr;
}

TEST(DecodeFields, EveryMessageIsThereInWords) {
  const auto all = field_tables(call_of_two_modems());
  EXPECT_EQ(all.size(), 5u);
  if (const auto* t = table(all, "V.8")) {
    EXPECT_THAT(t->columns, ElementsAre("", "CM"));
    EXPECT_THAT(t->rows[2], ElementsAre("modulations", "V.34, V.22bis/V.22"));
  }
  if (const auto* t = table(all, "INFO0")) {
    EXPECT_THAT(t->rows[0], ElementsAre("symbol rates", "2400 2743 3000 3200"));
    EXPECT_THAT(t->rows[1], ElementsAre("sends 3000 at carrier", "high"));
    EXPECT_THAT(t->rows[5], ElementsAre("difference between its two symbol rates, in steps", "2 at most"));
  }
  if (const auto* t = table(all, "INFO1c")) {
    EXPECT_THAT(t->rows[0], ElementsAre("2400", "1600", "0", "-"));
    EXPECT_THAT(t->rows[1], ElementsAre("2743", "1829", "7", "21600"));
    EXPECT_THAT(t->note, HasSubstr("MD 70 ms, frequency offset -1.00 Hz"));
  }
  if (const auto* t = table(all, "Line probing")) {
    EXPECT_THAT(t->rows[0], ElementsAre("150", "28.6", "-9.1"));
  }
  if (const auto* t = table(all, "MP")) {
    EXPECT_THAT(t->rows[0], ElementsAre("17.50", "answer modem", "MP", "1", "33600", "-", "64", "no", "minimum", "no",
                                        "no", "19200 21600", "0.500-0.250j 0.000+0.000j 0.000+0.000j"));
  }
}

TEST(DecodeFields, TextAndPageShowThem) {
  const Call call = call_of_two_modems();
  for (const std::string& shown : {to_text(call), to_html(call)}) {
    for (const char* word : {"V.34, V.22bis/V.22", "2400 2743 3000 3200", "21600", "28.6", "0.500-0.250j"})
      EXPECT_THAT(shown, HasSubstr(word));
  }
}

TEST(DecodeFields, NothingHeardIsNoTable) {
  EXPECT_TRUE(field_tables(Call{}).empty());
}

}  // namespace
}  // namespace offhook::decode
