// SPDX-License-Identifier: MIT
#include "src/lab/schedule/system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "src/lab/schedule/schedule.h"

namespace offhook::schedule {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string complaint(const std::string& json) {
  try {
    parse_system(json, "s.json");
  } catch (const SystemError& e) {
    return e.what();
  }
  return "accepted";
}

std::string with(const std::string& entities) {
  return R"({"horizon_ns":1000,"entities":[)" + entities + "]}";
}

constexpr const char* kEdf = R"({"name":"a","kind":"edf","period_ns":10,"cost_ns":3,"deadline_ns":10})";

TEST(System, ComplaintNamesFileEntityKeyAndExpectation) {
  EXPECT_EQ(complaint(with(kEdf)), "accepted");
  EXPECT_THAT(complaint("{\"horizon_ns\":1,\n  oops}"), HasSubstr("s.json:2:3: invalid JSON"));
  EXPECT_THAT(complaint("[]"), HasSubstr("s.json: expected an object, got array"));
  EXPECT_THAT(complaint(R"({"horizon":1,"entities":[]})"), HasSubstr("the nearest known key is \"horizon_ns\""));
  EXPECT_THAT(complaint(R"({"entities":[]})"), HasSubstr("missing key \"horizon_ns\", expected a whole number"));
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"edff"})")),
              HasSubstr("entities[0] 'a': unknown kind \"edff\"; the nearest is \"edf\""));
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"dpc","cost_ns":1,"period_ns":5})")),
              HasSubstr("unknown key \"period_ns\" of kind dpc"));
  EXPECT_THAT(complaint(with(std::string(kEdf) + R"(,{"name":"b","kind":"fp","period_ns":0,"cost_ns":1})")),
              AllOf(HasSubstr("entities[1] 'b': period_ns is 0, expected a whole number, 1 to ")));
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"edf","period_ns":10,"cost_ns":3})")), HasSubstr("deadline_ns"));
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"edf","period_ns":1.5,"cost_ns":3})")), HasSubstr("is 1.5"));
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"edf","period_ns":18446744073709551615,"cost_ns":3})")),
              HasSubstr("period_ns is 18446744073709551615"));
  EXPECT_THAT(complaint(R"({"horizon_ns":1e999,"entities":[]})"), HasSubstr("1e999"));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_THAT(complaint(R"({"horizon_ns":)" + deep + R"(,"entities":[]})"), HasSubstr("nested deeper than 64 levels"));
  EXPECT_THAT(complaint(with(std::string(kEdf) + "," + kEdf)), HasSubstr("duplicate name of entities[0]"));
  EXPECT_THAT(complaint(with(R"({"name":"i","kind":"interrupt","level":1,"period_ns":9,"cost_ns":1,"dpc":"d"})")),
              HasSubstr("dpc \"d\" is not the name of a dpc entity"));
}

TEST(System, NullIsAKeyThatIsNotThere) {
  EXPECT_EQ(complaint(with(R"({"name":"a","kind":"slot","period_ns":10,"cost_ns":3,"slot_length_ns":2,)"
                           R"("slot_period_ns":4,"slot_offset_ns":null,"strict":true,"priority":null},)"
                           R"({"name":"b","kind":"fp","priority":1,"period_ns":10,"cost_ns":3,"quantum_ns":null},)"
                           R"({"name":"c","kind":"interrupt","level":1,"period_ns":9,"cost_ns":1,"dpc":null})")),
            "accepted");
}

TEST(System, AReservationThatCannotBeKeptIsRefused) {
  const std::string common = R"("period_ns":10,"cost_ns":3,)";
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"cbs",)" + common + R"("budget_ns":5,"res_period_ns":4})")),
              HasSubstr("'a': budget_ns 5 exceeds res_period_ns 4"));
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"slot",)" + common + R"("slot_length_ns":5,"slot_period_ns":4})")),
              HasSubstr("slot_length_ns 5 exceeds slot_period_ns 4"));
  const auto slots = [&](int offset, int period) {
    return with(R"({"name":"a","kind":"slot",)" + common + R"("slot_length_ns":2,"slot_period_ns":10},)" +
                R"({"name":"b","kind":"slot",)" + common + R"("slot_length_ns":3,"slot_offset_ns":)" +
                std::to_string(offset) + R"(,"slot_period_ns":)" + std::to_string(period) + "}");
  };
  EXPECT_EQ(complaint(slots(2, 10)), "accepted");
  EXPECT_EQ(complaint(slots(7, 20)), "accepted");
  EXPECT_THAT(complaint(slots(8, 10)), HasSubstr("'b': its slots overlap those of 'a'"));
  EXPECT_THAT(complaint(slots(5, 11)), HasSubstr("overlap"));
  EXPECT_EQ(complaint(slots(5, 999)), "accepted");  // the second slot of b, at 1004, is after the horizon
}

TEST(System, WhatIsComparedInPairsIsLimited) {
  const auto repeated = [](const std::string& head, int count, const auto& item) {
    std::string all = head;
    for (int n = 0; n < count; ++n) all += (n > 0 ? "," : "") + item(n);
    return all;
  };
  const auto slots = [&](int count) {
    return with(repeated("", count, [](int n) {
      return R"({"name":"s)" + std::to_string(n) + R"(","kind":"slot","period_ns":9999,"cost_ns":1,"slot_offset_ns":)" +
             std::to_string(n) + R"(,"slot_length_ns":1,"slot_period_ns":9999})";
    }));
  };
  const auto dpcs = [&](int count) {
    return with(repeated("", count,
                         [](int n) { return R"({"name":"d)" + std::to_string(n) + R"(","kind":"dpc","cost_ns":1})"; }));
  };
  EXPECT_EQ(complaint(dpcs(10000)), "accepted");
  EXPECT_THAT(complaint(dpcs(10001)), HasSubstr("10001 entities; expected at most 10000"));
  EXPECT_EQ(complaint(slots(2000)), "accepted");
  EXPECT_THAT(complaint(slots(2001)), HasSubstr("'s2000': expected at most 2000 of kind slot"));
  const auto sections = [&](int count) {
    return with(
        repeated(R"({"name":"a","kind":"fp","priority":1,"period_ns":9999,"cost_ns":5000,"critical_sections":[)", count,
                 [](int n) { return R"({"mutex":"m","after_ns":)" + std::to_string(n) + R"(,"length_ns":1})"; }) +
        "]}");
  };
  EXPECT_EQ(complaint(sections(1000)), "accepted");
  EXPECT_THAT(complaint(sections(1001)), HasSubstr("critical_sections[1000]: expected at most 1000 of an entity"));
}

TEST(System, SchedulersOfScenariosAreKindsToo) {
  EXPECT_EQ(complaint(with(R"({"name":"a","kind":"windows-nt","period_ns":10,"cost_ns":3,"priority":24})")),
            "accepted");
  EXPECT_EQ(
      complaint(with(R"({"name":"a","kind":"rez-c","period_ns":10,"cost_ns":3,"budget_ns":2,"res_period_ns":10})")),
      "accepted");
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"linux","period_ns":10,"cost_ns":3,"budget_ns":2})")),
              HasSubstr("unknown key \"budget_ns\" of kind linux"));
  EXPECT_THAT(
      complaint(with(R"({"name":"a","kind":"rez-fb","period_ns":10,"cost_ns":3,"budget_ns":9,"res_period_ns":8})")),
      HasSubstr("expected Q <= P"));
  EXPECT_EQ(complaint(with(R"({"name":"a","kind":"linux-6.12","period_ns":10,"cost_ns":3,"nice":-5},)"
                           R"({"name":"b","kind":"linux-6.12-rt","period_ns":10,"cost_ns":3,"handler":true},)"
                           R"({"name":"c","kind":"cpu-max","period_ns":10,"cost_ns":3,"budget_ns":2,)"
                           R"("res_period_ns":10,"group":"g"})")),
            "accepted");
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"windows-nt","period_ns":10,"cost_ns":3,"nice":1})")),
              HasSubstr("has a nice value; expected a kind that is one of Linux's"));
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"linux","period_ns":10,"cost_ns":3,"nice":1,"priority":5})")),
              HasSubstr("expected neither a priority nor a handler"));
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"rez","period_ns":10,"cost_ns":3,"budget_ns":2,)"
                             R"("res_period_ns":10,"group":"g"})")),
              HasSubstr("unknown key \"group\" of kind rez"));
  EXPECT_THAT(complaint(with(R"({"name":"a","kind":"rialto","period_ns":10,"cost_ns":3})")),
              HasSubstr("unknown kind \"rialto\""));
}

/// The least urgent one comes first.
class Upside final : public hostsim::Scheduler {
 public:
  bool has(hostsim::ThreadRequest::Class) const override { return true; }
  hostsim::Policy thread(const hostsim::ThreadRequest& t) override {
    return hostsim::FixedPriority{31 - t.priority, 0};
  }
};

TEST(Schedule, RunsASchedulerOfTheProgramsOwnTwiceAlike) {
  hostsim::register_policy("upside", [](const hostsim::SchedulerHost&) { return std::make_unique<Upside>(); });
  const System system = parse_system(R"({"horizon_ns":100,"entities":[)"
                                     R"({"name":"high","kind":"upside","period_ns":100,"cost_ns":30,"priority":20},)"
                                     R"({"name":"low","kind":"upside","period_ns":100,"cost_ns":30,"priority":10}]})",
                                     "s.json");
  std::ostringstream first, second;
  const ScheduleResult result = run_schedule(system, first);
  run_schedule(system, second);
  EXPECT_EQ(first.str(), second.str());
  EXPECT_EQ(result.entities[0].response_max, 60);
  EXPECT_EQ(result.entities[1].response_max, 30);
}

// Two hogs of a group with 10 of every 50 ms beside a third hog, all of one fair class.
TEST(Schedule, AGroupHasOneBudgetBesideTheFairThreadsOfTheSystem) {
  const auto hog = [](const char* name, const char* rest) {
    return std::string(R"({"name":")") + name + R"(","period_ns":1000000000000,"cost_ns":1000000000000,)" + rest + "}";
  };
  const std::string limit = R"("kind":"cpu-max","budget_ns":10000000,"res_period_ns":50000000,"group":"g")";
  const System system =
      parse_system(R"({"horizon_ns":10000000000,"entities":[)" + hog("a", limit.c_str()) + "," +
                       hog("b", limit.c_str()) + "," + hog("c", R"("kind":"linux-6.12","nice":0)") + "]}",
                   "s.json");
  std::ostringstream csv;
  const ScheduleResult result = run_schedule(system, csv);
  EXPECT_NEAR(static_cast<double>(result.entities[0].cpu + result.entities[1].cpu), 2e9, 20e6);
  EXPECT_EQ(result.entities[0].cpu + result.entities[1].cpu + result.entities[2].cpu, 10'000'000'000);
}

TEST(Schedule, WritesEveryEventAndTheFiguresOfEachEntity) {
  const System system = parse_system(
      with(R"({"name":"i, \"1\"","kind":"interrupt","level":1,"offset_ns":5,"period_ns":500,"cost_ns":4,"dpc":"d"},
              {"name":"d","kind":"dpc","cost_ns":6},
              {"name":"t","kind":"fp","priority":3,"period_ns":2000,"cost_ns":10,"deadline_ns":15})"),
      "s.json");
  std::ostringstream csv;
  const ScheduleResult result = run_schedule(system, csv);
  const std::string i = R"("i, ""1""")";
  EXPECT_EQ(csv.str(), "time_ns,cpu,entity,event\n0,0,t,start\n5,0,t,preempt\n5,0," + i + ",start\n9,0," + i +
                           ",finish\n9,0,d,start\n15,0,d,finish\n15,0,t,miss\n15,0,t,resume\n20,0,t,finish\n505,0," +
                           i + ",start\n509,0," + i + ",finish\n509,0,d,start\n515,0,d,finish\n");
  EXPECT_EQ(result.entities[1].released, 2u);
  EXPECT_EQ(result.entities[1].response_max, 6);
  EXPECT_EQ(result.entities[2].misses, 1u);
  EXPECT_EQ(result.entities[2].cpu, 10);
  EXPECT_THAT(summary_json(result), HasSubstr("\"resp_max\": 20"));
}

}  // namespace
}  // namespace offhook::schedule
