// SPDX-License-Identifier: MIT
#include "driver/context/context_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "driver/context/name_table.h"

namespace offhook {
namespace {

using testing::HasSubstr;

std::string complaint(const char* text) {
  try {
    (void)ContextSpec::parse(text);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

TEST(ContextSpec, ReadsWhatItWrites) {
  for (const char* text : {"INT",
                           "THREADED",
                           "SOFTIRQ",
                           "DPC",
                           "THR 24",
                           "THR 255",
                           "FIFO 50",
                           "FIFO 99",
                           "RR 1",
                           "WORKER",
                           "OTHER",
                           "OTHER -16",
                           "OTHER 19",
                           "RES 2/8",
                           "RES 9/8",
                           "RES 2/8 strict",
                           "RES 2ms/8ms",
                           "RES 1.5ms/12.5ms",
                           "RES 0.001024ms/4000ms",
                           "RES 2ms/8ms strict"}) {
    EXPECT_EQ(ContextSpec::parse(text).str(), text);
  }
  EXPECT_EQ(ContextSpec::parse("  RES  2/8   strict ").str(), "RES 2/8 strict");
  EXPECT_EQ(ContextSpec::parse("RES 2.50ms/010ms").str(), "RES 2.5ms/10ms");
}

TEST(ContextSpec, FillsTheFieldsOfItsKindOnly) {
  EXPECT_EQ(ContextSpec::parse("FIFO 50").priority, 50);
  EXPECT_EQ(ContextSpec::parse("OTHER -16").nice, -16);
  const ContextSpec ticks = ContextSpec::parse("RES 3/12 strict");
  EXPECT_TRUE(ticks.in_ticks() && ticks.strict);
  EXPECT_EQ(ticks.x_ticks, 3);
  EXPECT_EQ(ticks.y_ticks, 12);
  EXPECT_EQ(ticks.share(), 0.25);
  const ContextSpec time = ContextSpec::parse("RES 1.5ms/12ms");
  EXPECT_FALSE(time.in_ticks() || time.strict);
  EXPECT_EQ(time.budget_ns, 1'500'000);
  EXPECT_EQ(time.period_ns, 12'000'000);
  EXPECT_EQ(time.share(), 0.125);
  EXPECT_EQ(time.struct_size, sizeof(oh_context_spec));
}

TEST(ContextSpec, ComplainsWithThePositionAndWhatWasExpected) {
  EXPECT_THAT(complaint("THR 8x"), HasSubstr("at character 6 expected a space or the end"));
  EXPECT_THAT(complaint("THR"), HasSubstr("at character 4, its end, expected a whole number, 1 to 255"));
  EXPECT_THAT(complaint("FIFO 100"), HasSubstr("at character 6 expected a whole number, 1 to 99"));
  EXPECT_THAT(complaint("OTHER -21"), HasSubstr("expected a whole number, -20 to 19"));
  EXPECT_THAT(complaint("RES 2"), HasSubstr("at character 6, its end, expected / and a number of ticks"));
  EXPECT_THAT(complaint("RES 2ms/8"), HasSubstr("at character 9 expected a time in ms"));
  EXPECT_THAT(complaint("RES 2/8ms"), HasSubstr("at character 8 expected a space or the end"));
  EXPECT_THAT(complaint("RES 2/8 loose"), HasSubstr("at character 9 expected nothing more"));
  EXPECT_THAT(complaint("INTERRUPT"), HasSubstr("at character 1 expected one of INT, DPC, THR 1..255, RES X/Y"));
  for (const char* text : {"", " ", "int", "RES", "RES 0/8", "RES 2/8/9", "RES 99999999999/8", "RES nan/8",
                           "RES nanms/8ms", "RES infms/8ms", "RES 1ms/9999ms", "FIFO 1.5", "INT 2", "RES -1ms/2ms"}) {
    EXPECT_NE(complaint(text), "") << text;
  }
}

TEST(ContextSpec, AHostSaysWhichContextsItRuns) {
  const oh_context_kind runs[] = {OH_CONTEXT_FIFO, OH_CONTEXT_NORMAL, OH_CONTEXT_RESERVATION};
  EXPECT_EQ(not_of_this_host(ContextSpec::parse("THR 24"), "Linux", runs),
            "THR 24 is Windows NT's; this host is Linux: FIFO 1..99, OTHER [-20..19], RES X/Y [strict] (ticks), RES "
            "Xms/Yms");
  EXPECT_THAT(not_of_this_host(ContextSpec::parse("SOFTIRQ"), "nt2000", runs), HasSubstr("SOFTIRQ is Linux's; "));
  EXPECT_THAT(not_of_this_host(ContextSpec::parse("INT"), "Linux", runs), HasSubstr("INT cannot run here; "));
}

TEST(ContextSpec, AProgramAddsWordsOfItsOwn) {
  const oh_context_kind kind =
      add_context_form({"ISLAND", "island", ContextArgument::kPriority, 3, 7, "", "for this test"});
  EXPECT_GE(kind, OH_CONTEXT_OWN);
  EXPECT_EQ(ContextSpec::parse("ISLAND 5").kind, kind);
  EXPECT_EQ(ContextSpec::parse("ISLAND 5").str(), "ISLAND 5");
  EXPECT_THAT(complaint("ISLAND 8"), HasSubstr("3 to 7"));
  EXPECT_EQ(context_keys()[static_cast<std::size_t>(kind)], "island");
  EXPECT_THROW(add_context_form({"ISLAND", "island2"}), std::invalid_argument);
  EXPECT_THROW(add_context_form({"OTHERISLAND", "island"}), std::invalid_argument);
  EXPECT_THROW(add_context_form({"TWO WORDS", "two"}), std::invalid_argument);
}

TEST(NameTable, RowsThatThreadsAddAreThereOnceEach) {
  static NameTable<int> table;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([t] {
      for (int i = 0; i < 16; i++) table.add(std::to_string(t * 16 + i), t * 16 + i);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(table.names().size(), 64u);
  for (int i = 0; i < 64; i++) EXPECT_EQ(table[table.find(std::to_string(i))], i);
  EXPECT_THROW(table.add("7", 0), std::invalid_argument);
  EXPECT_THROW(table.add("one more", 0), std::length_error);
  EXPECT_EQ(table.find("one more"), -1);
}

}  // namespace
}  // namespace offhook
