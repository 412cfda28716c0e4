// SPDX-License-Identifier: MIT
#include "src/lab/analysis/figures.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

using namespace offhook;

namespace {

constexpr std::uint64_t kUs = 1'000, kMs = 1'000'000;

class Log {
 public:
  Log& at(std::uint64_t time_ns, oh_event_kind kind, std::uint16_t id = 0, std::uint32_t argument = 0) {
    analyzer_.add({time_ns, static_cast<std::uint8_t>(kind), 0, id, argument});
    return *this;
  }
  const Figures& figures(std::uint64_t end_ns = 0) { return analyzer_.finish(end_ns); }

 private:
  Analyzer analyzer_;
};

enum : std::uint16_t { kCard = 0, kIsr = 1, kService = 2, kSpinner = 3 };

// One block in a thread: interrupt at t, isr 10 us later for 5 us, service after `wait`, output 400 us into the 1 ms.
void block(Log& log, std::uint64_t t, std::uint64_t wait, std::uint32_t samples = 100, std::uint32_t late = 0,
           std::uint32_t pending = 0) {
  log.at(t, OH_EV_INTERRUPT, 0, samples);
  log.at(t + 10 * kUs, OH_EV_RUN, kIsr).at(t + 10 * kUs, OH_EV_ISR_ENTER).at(t + 15 * kUs, OH_EV_ISR_EXIT);
  if (wait > 5 * kUs) log.at(t + 15 * kUs, OH_EV_RUN, kSpinner);
  log.at(t + 10 * kUs + wait, OH_EV_RUN, kService).at(t + 10 * kUs + wait, OH_EV_SERVICE_RUN_BEGIN);
  log.at(t + 10 * kUs + wait, OH_EV_SERVICE_BEGIN, 0, samples);
  log.at(t + 410 * kUs + wait, OH_EV_OUTPUT_READY, 0, late);
  log.at(t + 1010 * kUs + wait, OH_EV_SERVICE_END, 0, pending).at(t + 1010 * kUs + wait, OH_EV_SERVICE_RUN_END, 0, 1);
  log.at(t + 1010 * kUs + wait, OH_EV_RUN, kSpinner);
}

}  // namespace

TEST(Figures, LatenciesCountFromTheInterrupt) {
  Log log;
  log.at(0, OH_EV_CARD_RATE, 0, 9600);
  for (std::uint64_t i = 0; i < 10; ++i) block(log, i * 12'500 * kUs + kMs, 190 * kUs);
  const Figures& f = log.figures();
  EXPECT_EQ(f.interrupt_to_isr.count(), 10u);
  EXPECT_EQ(f.interrupt_to_isr.max(), 10 * kUs);
  EXPECT_EQ(f.isr_elapsed.max(), 5 * kUs);
  EXPECT_EQ(f.interrupt_to_service.max(), 200 * kUs);
  EXPECT_EQ(f.interrupt_to_output.min(), 600 * kUs);
  EXPECT_EQ(f.service_run_elapsed.max(), 1000 * kUs);
  EXPECT_EQ(f.interrupt_period.min(), 12'500 * kUs);
  EXPECT_NEAR(f.total.lead_used_max_samples, 100 + 0.6 * 9.6, 1e-9);  // the block and 600 us at 9.6 kHz
  EXPECT_EQ(f.total.interrupts, 10u);
  EXPECT_EQ(f.total.blocks, 10u);
  EXPECT_FALSE(f.total.losses.any());
}

TEST(Figures, EachBlockOfABacklogKeepsItsOwnInterrupt) {
  Log log;
  for (std::uint64_t i = 0; i < 3; ++i) log.at(i * 10 * kMs, OH_EV_INTERRUPT, 0, 100);
  log.at(21 * kMs, OH_EV_ISR_ENTER).at(21 * kMs, OH_EV_ISR_EXIT);
  log.at(25 * kMs, OH_EV_SERVICE_RUN_BEGIN);
  for (std::uint64_t i = 0; i < 3; ++i) {
    log.at((25 + i) * kMs, OH_EV_SERVICE_BEGIN, 0, 100).at((25 + i) * kMs + 1, OH_EV_OUTPUT_READY);
    log.at((26 + i) * kMs - 1, OH_EV_SERVICE_END, 0, 100 * static_cast<std::uint32_t>(2 - i));
  }
  log.at(28 * kMs, OH_EV_SERVICE_RUN_END, 0, 3);
  const Figures& f = log.figures();
  EXPECT_EQ(f.interrupt_to_isr.max(), 21 * kMs);
  EXPECT_EQ(f.interrupt_to_isr.min(), 1 * kMs);
  EXPECT_EQ(f.interrupt_to_service.count(), 3u);
  EXPECT_EQ(f.interrupt_to_service.max(), 25 * kMs);
  EXPECT_EQ(f.interrupt_to_service.min(), 7 * kMs);
  EXPECT_EQ(f.service_run_elapsed.max(), 3 * kMs);
  EXPECT_EQ(f.total.pending_max, 200u);
}

TEST(Figures, ABlockTakenInPartsIsServedWithItsLastSample) {
  Log log;
  log.at(0, OH_EV_INTERRUPT, 0, 300);
  log.at(1 * kMs, OH_EV_SERVICE_BEGIN, 0, 256).at(2 * kMs, OH_EV_OUTPUT_READY);
  log.at(3 * kMs, OH_EV_SERVICE_BEGIN, 0, 44).at(4 * kMs, OH_EV_OUTPUT_READY);
  const Figures& f = log.figures();
  ASSERT_EQ(f.interrupt_to_service.count(), 1u);
  EXPECT_EQ(f.interrupt_to_service.max(), 3 * kMs);
  EXPECT_EQ(f.interrupt_to_output.max(), 4 * kMs);
}

TEST(Figures, FilledInBlocksHaveNoLatency) {
  Log log;
  log.at(0, OH_EV_INTERRUPT, 0, 100).at(10 * kMs, OH_EV_INTERRUPT, 0, 100);
  log.at(11 * kMs, OH_EV_FILL_IN, 0, 100)
      .at(12 * kMs, OH_EV_SERVICE_BEGIN, 0, 100)
      .at(13 * kMs, OH_EV_OUTPUT_READY, 0, 7);
  log.at(14 * kMs, OH_EV_SERVICE_END, 0, 30);
  log.at(14 * kMs, OH_EV_RX_OVERRUN, 0, 100).at(14 * kMs, OH_EV_TX_UNDERRUN, 0, 9);
  const Figures& f = log.figures();
  EXPECT_EQ(f.interrupt_to_service.count(), 1u);
  EXPECT_EQ(f.interrupt_to_service.max(), 2 * kMs);
  EXPECT_EQ(f.total.losses.samples_filled_in, 100u);
  EXPECT_EQ(f.total.losses.blocks_late, 1u);
  EXPECT_EQ(f.total.losses.samples_late, 7u);
  EXPECT_EQ(f.total.losses.overrun_samples, 100u);
  EXPECT_EQ(f.total.losses.underrun_samples, 9u);
}

TEST(Figures, CpuTimeGoesToWhoHadIt) {
  Log log;
  log.at(0, OH_EV_RUN, kSpinner);
  for (std::uint64_t i = 0; i < 80; ++i) block(log, i * 12'500 * kUs + kMs, 190 * kUs);
  const Figures& f = log.figures(1000 * kMs);
  double total = 0;
  for (const auto& entity : f.timeline.entities()) {
    total += entity.share.total_ns;
    EXPECT_EQ(entity.serves, entity.id == kIsr || entity.id == kService) << entity.id;
    if (entity.id == kIsr) {
      EXPECT_DOUBLE_EQ(entity.share.total_ns, 80 * 5.0 * kUs);
    } else if (entity.id == kService) {
      EXPECT_DOUBLE_EQ(entity.share.total_ns, 80 * 1000.0 * kUs);
    }
  }
  EXPECT_DOUBLE_EQ(total, 1000.0 * kMs);
  EXPECT_DOUBLE_EQ(f.timeline.modem().total_ns, 80 * 1005.0 * kUs);
  for (const SeriesPoint& p : f.timeline.modem().window_share.points()) EXPECT_NEAR(p.value, 1005.0 / 12'500, 1e-9);
  EXPECT_NEAR(f.timeline.modem().window_max, 1005.0 / 12'500, 1e-9);
}

TEST(Figures, AnIsrThatIsAJobOfItsOwnLastsUntilTheJobIsFinished) {
  Log log;
  for (std::uint64_t i = 0; i < 5; ++i) {  // as hostsim logs the context INT: all work in one interrupt
    const std::uint64_t t = i * 12'500 * kUs;
    log.at(t, OH_EV_INTERRUPT, 0, 100).at(t, OH_EV_RUN, kIsr, 1).at(t, OH_EV_ISR_ENTER).at(t, OH_EV_ISR_EXIT);
    log.at(t + 5 * kUs, OH_EV_SERVICE_RUN_BEGIN).at(t + 5 * kUs, OH_EV_SERVICE_BEGIN, 0, 100);
    log.at(t + 900 * kUs, OH_EV_RUN, kSpinner, 1).at(t + 910 * kUs, OH_EV_FINISH, kSpinner, 10);
    log.at(t + 910 * kUs, OH_EV_RUN, kIsr, 0);
    log.at(t + 1800 * kUs, OH_EV_SERVICE_RUN_END, 0, 1).at(t + 1800 * kUs, OH_EV_FINISH, kIsr, 1800);
    log.at(t + 1800 * kUs, OH_EV_IDLE);
  }
  const Figures& f = log.figures();
  EXPECT_EQ(f.isr_elapsed.count(), 5u);
  EXPECT_EQ(f.isr_elapsed.min(), 1800 * kUs);
  EXPECT_EQ(f.isr_elapsed.max(), 1800 * kUs);
  EXPECT_EQ(f.service_run_elapsed.max(), 1795 * kUs);
}

TEST(Figures, PhasesKeepTheirOwnMaxima) {
  Log log;
  log.at(0, OH_EV_RUN, kSpinner).at(0, OH_EV_PHASE, 0, 0);
  block(log, 1 * kMs, 0, 100, 0, 30);
  log.at(20 * kMs, OH_EV_PHASE, 0, 3);
  block(log, 21 * kMs, 0, 100, 50, 200);
  block(log, 31 * kMs, 0, 100, 0, 10);
  const Figures& f = log.figures(40 * kMs);
  ASSERT_EQ(f.phases.size(), 2u);
  EXPECT_EQ(f.phases[0].pending_max, 30u);
  EXPECT_EQ(f.phases[1].pending_max, 200u);
  EXPECT_EQ(f.phases[1].phase, 3u);
  EXPECT_EQ(f.phases[0].end_ns, 20 * kMs);
  EXPECT_EQ(f.phases[1].end_ns, 40 * kMs);
  EXPECT_EQ(f.phases[0].losses.blocks_late, 0u);
  EXPECT_EQ(f.phases[1].losses.samples_late, 50u);
  EXPECT_EQ(f.phases[1].blocks, 2u);
  EXPECT_EQ(f.total.pending_max, 200u);
  EXPECT_DOUBLE_EQ(f.phases[0].modem_cpu_ns, 1000.0 * kUs);
  EXPECT_DOUBLE_EQ(f.phases[1].modem_cpu_ns, 2000.0 * kUs);
}

TEST(Figures, CloseUpsShowTheWorstBacklogAndTheFirstLoss) {
  Log log;
  log.at(0, OH_EV_RUN, kSpinner);
  for (std::uint64_t i = 0; i < 100; ++i) {
    block(log, i * 12'500 * kUs + kMs, 190 * kUs, 100, i == 40 || i == 60 ? 5 : 0, i == 80 ? 90 : 0);
  }
  const auto close_ups = log.figures().timeline.close_ups();
  ASSERT_EQ(close_ups.size(), 3u);
  EXPECT_NEAR(static_cast<double>(close_ups[1].centre_ns) / kMs, 80 * 12.5, 3);
  EXPECT_NEAR(static_cast<double>(close_ups[2].centre_ns) / kMs, 40 * 12.5, 3);
  for (const CloseUp& close_up : close_ups) {
    ASSERT_FALSE(close_up.segments.empty());
    EXPECT_GT(close_up.segments.back().end_ns, close_up.centre_ns + 40 * kMs);
    for (std::size_t i = 1; i < close_up.segments.size(); ++i) {
      EXPECT_EQ(close_up.segments[i].begin_ns, close_up.segments[i - 1].end_ns);
    }
    EXPECT_FALSE(close_up.marks.empty());
  }
}

TEST(Timeline, ACloseUpAtTheStartHasNothingThatTheLogHasNot) {
  Timeline timeline;
  timeline.add({0, OH_EV_RUN, 0, kSpinner, 0});
  timeline.add({5, OH_EV_RX_OVERRUN, 0, kCard, 3});
  timeline.look_at(Timeline::Moment::kFirstLoss, "first loss", 5);
  const auto close_ups = timeline.close_ups();
  ASSERT_EQ(close_ups.size(), 1u);
  EXPECT_EQ(close_ups[0].title, "first loss");
  EXPECT_TRUE(close_ups[0].segments.empty());
  ASSERT_EQ(close_ups[0].marks.size(), 1u);
  EXPECT_EQ(close_ups[0].marks[0].time_ns, 5u);
}

TEST(Timeline, TheFirstSegmentsAreKeptOneByOne) {
  Timeline timeline;
  timeline.add({10, OH_EV_RUN, 0, kSpinner, 0});
  timeline.add({30, OH_EV_IDLE, 0, 0, 0});
  timeline.add({50, OH_EV_RUN, 0, kService, 0});
  timeline.finish(70);
  const auto& segments = timeline.first_segments();
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].entity, kSpinner);
  EXPECT_EQ(segments[0].begin_ns, 10u);
  EXPECT_EQ(segments[0].end_ns, 30u);
  EXPECT_EQ(segments[1].begin_ns, 50u);
  EXPECT_EQ(segments[1].end_ns, 70u);
  EXPECT_EQ(timeline.first_segments_until_ns(), std::numeric_limits<std::uint64_t>::max());
}

TEST(Timeline, TheFirstSegmentsEndBeforeAnyThatWasLeftOut) {
  constexpr std::uint64_t kLongNs = 5;  // on CPU 1, from an early time until after the limit
  Timeline timeline;
  timeline.add({kLongNs, OH_EV_RUN, 1, kService, 0});
  const std::uint64_t segments = Timeline::kFirstSegments + 10;
  for (std::uint64_t i = 0; i < segments; ++i) timeline.add({10 * i, OH_EV_RUN, 0, i % 2 ? kIsr : kSpinner, 0});
  timeline.add({10 * segments, OH_EV_IDLE, 0, 0, 0});
  EXPECT_EQ(timeline.first_segments().size(), Timeline::kFirstSegments);
  EXPECT_EQ(timeline.first_segments_until_ns(), 10 * Timeline::kFirstSegments);
  timeline.finish(10 * segments);
  EXPECT_EQ(timeline.first_segments_until_ns(), kLongNs);
}

TEST(Figures, TheLinkAndTheConstellationAreRead) {
  Log log;
  const auto symbol = [](int re, int im) {
    return static_cast<std::uint32_t>(static_cast<std::uint16_t>(re * 4096)) |
           static_cast<std::uint32_t>(static_cast<std::uint16_t>(im * 4096)) << 16;
  };
  log.at(1, OH_EV_SYMBOL, 0, symbol(-3, 1)).at(2, OH_EV_SYMBOL, 0, symbol(1, -1));
  log.at(3, OH_EV_LINK_BYTES, 1, 1000).at(4, OH_EV_LINK_BYTES, 1, 2000);
  log.at(5, OH_EV_LINK_RETRANSMIT, 0, 4).at(6, OH_EV_LINK_RETRANSMIT, 0, 1).at(7, OH_EV_LINK_BAD_FRAME, 1, 2);
  log.at(8, OH_EV_PUMP_RATES, 1, 12 | (0x8000u | 75) << 16);
  log.at(8, OH_EV_PUMP_RATES, 0, 336 | 312 << 16).at(9, OH_EV_PUMP_RATES, 0, 288 | 312 << 16);
  const auto carrier = [](int hundredths) {
    return std::uint32_t{OH_INSTRUMENT_CARRIER} << 24 | (static_cast<std::uint32_t>(hundredths) & 0xffffff);
  };
  log.at(10, OH_EV_PUMP_INSTRUMENT, 0, carrier(-725)).at(2'000'000, OH_EV_PUMP_INSTRUMENT, 0, carrier(700));
  for (const std::uint32_t tap : {0u, 0u, 1u << 24, 3u << 24})
    log.at(2'000'001, OH_EV_PUMP_TAP, 0, tap | (tap ? 0 : 3000));
  const Figures& f = log.figures();
  ASSERT_EQ(f.ends[0].constellation.items().size(), 2u);
  EXPECT_FLOAT_EQ(f.ends[0].constellation.items()[0].re, -3);
  EXPECT_FLOAT_EQ(f.ends[0].constellation.items()[0].im, 1);
  EXPECT_EQ(f.ends[1].bytes_delivered, 2000u);
  EXPECT_EQ(f.ends[0].frames_retransmitted, 5u);
  EXPECT_EQ(f.ends[0].recoveries, 2u);
  EXPECT_EQ(f.ends[1].bad_frames, 2u);
  EXPECT_EQ(f.ends[1].sent_bps, 1200u);
  EXPECT_EQ(f.ends[1].received_bps, 75u) << "no multiple of 100";
  ASSERT_EQ(f.ends[0].instruments[OH_INSTRUMENT_CARRIER].count(), 2u);
  EXPECT_DOUBLE_EQ(f.ends[0].instruments[OH_INSTRUMENT_CARRIER].points()[0].value, -7.25);
  EXPECT_DOUBLE_EQ(f.ends[0].instruments[OH_INSTRUMENT_CARRIER].points()[1].value, 7);
  EXPECT_EQ(f.ends[0].taps_db, (std::vector<float>{-30, 0}));
  EXPECT_EQ(f.ends[0].data_modes, 2u);
  EXPECT_EQ(f.ends[0].sent_bps, 28800u);
  EXPECT_EQ(f.ends[0].received_bps, 31200u);
}

TEST(Figures, TimerIntervalsFallIntoThePapersBuckets) {
  Log log;
  log.at(0, OH_EV_TIMER_CALLBACK, 5, 0);  // the first has no predecessor
  for (int i = 0; i < 976; ++i) log.at(1, OH_EV_TIMER_CALLBACK, 5, 976'562);
  for (int i = 0; i < 24; ++i) log.at(2, OH_EV_TIMER_CALLBACK, 5, 1'953'125);
  const Figures& f = log.figures();
  EXPECT_EQ(f.timer_interval.count(), 1000u);
  EXPECT_EQ(f.timer_interval.bucket_width(), 50'000u);
  EXPECT_EQ(f.timer_interval.counts()[19], 976u);
  EXPECT_EQ(f.timer_interval.count_between(1'900'000, 2'100'000), 24u);
  log.at(3, OH_EV_TIMER_CALLBACK, 5, 19'999'999).at(4, OH_EV_TIMER_CALLBACK, 5, 20'000'000);
  EXPECT_EQ(f.timer_interval.counts().back(), 1u);
  EXPECT_EQ(f.timer_interval.beyond(), 1u);
}

TEST(CpuShare, IsOfEachWindowAndOfALongStretchItsFirstAndLast) {
  constexpr std::uint64_t kWindow = kShareWindowNs;
  CpuShare share;
  share.add(0, kWindow / 4);
  share.add(kWindow / 2, kWindow / 2 + kWindow);
  share.add(4 * kWindow + kWindow / 4, 4 * kWindow + kWindow / 2);
  EXPECT_DOUBLE_EQ(share.window_max, 0.75);
  share.add(6 * kWindow, 16 * kWindow);
  share.finish(17 * kWindow);
  const std::vector<SeriesPoint> expected = {{0, 0.75},           {kWindow, 0.5},   {2 * kWindow, 0}, {3 * kWindow, 0},
                                             {4 * kWindow, 0.25}, {5 * kWindow, 0}, {6 * kWindow, 1}, {7 * kWindow, 1},
                                             {15 * kWindow, 1},   {16 * kWindow, 0}};
  EXPECT_EQ(share.window_share.points(), expected);
  EXPECT_DOUBLE_EQ(share.window_max, 1);
  EXPECT_DOUBLE_EQ(share.total_ns, 11.5 * kWindow);
}

TEST(Figures, AnEmptyLogGivesEmptyFigures) {
  Log log;
  const nlohmann::json json = to_json(log.figures());
  EXPECT_EQ(json["events"], 0);
  EXPECT_EQ(json["total"]["pending_max_samples"], 0);
}

// The values for reports and other programs: milliseconds, seconds and shares of the blocks above.
TEST(Figures, JsonHasTheUnitsThatItsNamesSay) {
  Log log;
  log.at(0, OH_EV_CARD_RATE, 0, 9600);
  for (std::uint64_t i = 0; i < 10; ++i) block(log, i * 12'500 * kUs + kMs, 190 * kUs);
  const nlohmann::json json = to_json(log.figures());
  const auto expect_all = [&](const char* name, int count, double ms) {
    EXPECT_EQ(json[name]["count"], count) << name;
    for (const char* figure : {"min_ms", "mean_ms", "p50_ms", "p99_ms", "p999_ms", "max_ms"})
      EXPECT_NEAR(json[name][figure].get<double>(), ms, ms / 64) << name << ' ' << figure;  // a bucket of the histogram
  };
  expect_all("interrupt_to_isr", 10, 0.010);
  expect_all("isr_elapsed", 10, 0.005);
  expect_all("interrupt_to_service", 10, 0.200);
  expect_all("interrupt_to_output", 10, 0.600);
  expect_all("service_run_elapsed", 10, 1.000);
  expect_all("interrupt_period", 9, 12.500);
  const nlohmann::json& total = json["total"];
  EXPECT_EQ(total["interrupts"], 10);
  EXPECT_EQ(total["blocks"], 10);
  EXPECT_NEAR(total["service_run_elapsed_max_ms"].get<double>(), 1.0, 1e-9);
  EXPECT_NEAR(total["begin_s"].get<double>(), 0, 1e-12);
  EXPECT_NEAR(total["end_s"].get<double>(), 0.1147, 1e-9);  // the tenth block's call ends
}

TEST(Figures, AnyBytesAreTakenAsEvents) {
  Analyzer analyzer;
  analyzer.add({0, OH_EV_RUN, 0, 1, 0});
  analyzer.add({~std::uint64_t{0} - 1, OH_EV_IDLE, 0, 0, 0});
  std::uint64_t state = 88172645463325252u;
  for (int i = 0; i < 200'000; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    analyzer.add({state >> 24, static_cast<std::uint8_t>(state % 90), static_cast<std::uint8_t>(state % 3),
                  static_cast<std::uint16_t>(state % 300), static_cast<std::uint32_t>(state >> 32)});
  }
  EXPECT_EQ(analyzer.finish().events, 200'002u);
}
