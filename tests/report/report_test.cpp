// SPDX-License-Identifier: MIT
//
// The report as a browser sees it: opened in headless Chromium, with no error on the console, no request to anywhere,
// every figure drawn. Screenshots are left in the build directory for people to look at.
#include "src/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "driver/base/output.h"
#include "src/page/page.h"
#include "tests/report/synthetic_call.h"

using namespace offhook;
namespace fs = std::filesystem;

namespace {

const fs::path kOut = fs::path(OFFHOOK_BINARY_DIR) / "report-test";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (std::system((std::string("command -v ") + name + " >/dev/null 2>&1").c_str()) == 0) return name;
  }
  return {};
}

struct Opened {
  int status = -1;
  std::string dom;
  std::string console;  // the browser's standard error
};

// Opens the page. `extra` has further options, such as for a screenshot.
Opened open(const fs::path& page, const std::string& fragment, const std::string& extra, const std::string& tag) {
  const fs::path profile = kOut / ("profile-" + tag), dom = kOut / (tag + ".dom"), console = kOut / (tag + ".console");
  fs::remove_all(profile);
  const std::string command =
      "timeout 90 " + browser() +
      " --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
      " --disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --enable-logging=stderr "
      "--v=0"
      " --virtual-time-budget=4000 --user-data-dir='" +
      profile.string() + "' " + extra + " 'file://" + page.string() + fragment + "' >'" + dom.string() + "' 2>'" +
      console.string() + "'";
  Opened out;
  const int status = std::system(command.c_str());
  out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  out.dom = read(dom);
  out.console = read(console);
  fs::remove_all(profile);
  return out;
}

// Lines from a page's own console: "...:INFO:CONSOLE(12)] "text", source: file://... (12)"
std::vector<std::string> console_lines(const std::string& log) {
  std::vector<std::string> out;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (line.find("CONSOLE") != std::string::npos) out.push_back(line);
  }
  return out;
}

// A copy of the page that counts the painted pixels of each canvas after drawing, and tries the zooms.
fs::path with_ink_count(const fs::path& page) {
  std::string html = read(page);
  const std::string probe = R"(<script>
for (const canvas of document.querySelectorAll("canvas")) {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let ink = 0;
  for (let i = 3; i < pixels.length; i += 4) if (pixels[i] > 0) ++ink;
  const figure = canvas.closest(".chart");
  figure.dataset.ink = Math.max(ink, Number(figure.dataset.ink || 0));
}
if (seriesCharts.length) {
  const full = seriesCharts[0].xAxisRange();
  seriesCharts[0].updateOptions({dateWindow: [1, 2]});
  document.body.dataset.zoomed = seriesCharts.filter(chart => chart.xAxisRange()[0] === 1 && chart.xAxisRange()[1] === 2).length;
  document.body.dataset.charts = seriesCharts.length;
  seriesCharts[0].updateOptions({dateWindow: full});
}
for (const canvas of document.querySelectorAll("canvas.zoom")) {
  const before = canvas.toDataURL();
  canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -400, clientX: 600, bubbles: true, cancelable: true}));
  canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: 600, clientY: 10, bubbles: true}));
  if (canvas.toDataURL() !== before) canvas.closest(".chart").dataset.wheel = "zoomed";
}
for (const drawing of document.querySelectorAll(".chart svg")) {
  drawing.closest(".chart").dataset.ink = drawing.querySelectorAll("rect, circle, path, polyline").length;
}
</script>
)";
  html.insert(html.rfind("</body>"), probe);
  const fs::path copy = page.parent_path() / (page.stem().string() + "-probed.html");
  std::ofstream(copy, std::ios::binary) << html;
  return copy;
}

struct Figure {
  std::string id;
  bool drawn = false;
  bool timeline = false;
  bool zooms = false;
  long ink = 0;
};
std::vector<Figure> figures_of(const std::string& dom) {
  std::vector<Figure> out;
  static const std::regex kFigure("<div class=\"chart\" id=\"figure-([a-z0-9-]+)\"([^>]*)>");
  for (std::sregex_iterator i(dom.begin(), dom.end(), kFigure), end; i != end; ++i) {
    Figure figure;
    figure.id = (*i)[1];
    figure.timeline = figure.id == "cpu" || figure.id.rfind("close-up", 0) == 0;
    const std::string attributes = (*i)[2];
    figure.drawn = attributes.find("data-drawn=\"yes\"") != std::string::npos;
    figure.zooms = attributes.find("data-wheel=\"zoomed\"") != std::string::npos;
    std::smatch ink;
    if (std::regex_search(attributes, ink, std::regex("data-ink=\"(\\d+)\""))) figure.ink = std::stol(ink[1]);
    out.push_back(figure);
  }
  return out;
}

CallReport described(std::string title) {
  CallReport call;
  call.title = std::move(title);
  call.settings = {{"context", "THR 24"}, {"pump", "cost profile"}, {"seed", "1"}};
  call.entities = {{test::kClockIsr, "clock interrupt"},
                   {test::kModemIsr, "modem interrupt"},
                   {test::kServiceThread, "modem thread"},
                   {test::kSpinner, "spinner <b>"}};
  call.phases = {{0, "on hook"}, {1, "dialling"}, {2, "connecting"}, {3, "connected"}};
  call.transmit_lead_samples = 210;
  return call;
}

fs::path call_report(const std::string& name, const test::SyntheticCall& synthetic, CallReport call) {
  Analyzer analyzer;
  test::synthesise(synthetic, [&](const oh_event& event) { analyzer.add(event); });
  fs::create_directories(kOut);
  const fs::path path = kOut / (name + ".html");
  write_file(path, call_page(call, analyzer.finish()));
  return path;
}

SweepReport table3() {
  SweepReport sweep;
  sweep.title = "Synthetic reservations";
  sweep.settings = {{"scheduler", "modified Rialto/NT"}, {"runs", "10 each"}};
  sweep.device = DeviceTiming{.transmit_lead_samples = 210, .cost_ms = 1.74};
  struct Row {
    int x, y;
    Verdict verdict;
  };
  for (const Row row : {Row{1, 7, Verdict::kSufficient},
                        {1, 8, Verdict::kInsufficient},
                        {2, 13, Verdict::kSufficient},
                        {2, 14, Verdict::kMarginal},
                        {3, 15, Verdict::kSufficient},
                        {3, 17, Verdict::kInsufficient}}) {
    SweepRow out;
    out.name = "RES " + std::to_string(row.x) + "/" + std::to_string(row.y);
    out.group = "Table 3";
    out.reservation = {static_cast<double>(row.x), static_cast<double>(row.y)};
    out.result.verdict = row.verdict;
    out.result.runs = 10;
    out.result.complete = row.verdict == Verdict::kSufficient ? 10 : row.verdict == Verdict::kMarginal ? 4 : 0;
    out.result.mean_s = out.result.complete > 0 ? 36.4 : 0;
    out.published = SweepRow::Published{row.y == 17 ? Verdict::kMarginal : row.verdict, 36.4, "10 of 10"};
    sweep.rows.push_back(out);
  }
  return sweep;
}

void expect_drawn(const fs::path& page, const std::set<std::string>& expected, const std::string& tag) {
  for (const std::string theme : {"light", "dark"}) {
    const Opened opened =
        open(with_ink_count(page), "#" + theme, "--window-size=1200,900 --dump-dom", tag + "-" + theme);
    ASSERT_EQ(opened.status, 0) << opened.console;
    EXPECT_THAT(console_lines(opened.console), testing::IsEmpty());
    EXPECT_THAT(opened.dom, testing::HasSubstr("data-ready=\"yes\""));
    EXPECT_THAT(opened.dom, testing::HasSubstr("data-theme=\"" + theme + "\""));
    std::smatch zoomed;
    if (std::regex_search(opened.dom, zoomed, std::regex("data-zoomed=\"(\\d+)\" data-charts=\"(\\d+)\""))) {
      EXPECT_EQ(zoomed[1], zoomed[2]) << "charts do not zoom together";
    } else {
      EXPECT_FALSE(expected.contains("pending")) << "no chart over time";
    }
    std::set<std::string> found;
    for (const Figure& figure : figures_of(opened.dom)) {
      found.insert(figure.id);
      EXPECT_TRUE(figure.drawn) << figure.id;
      EXPECT_TRUE(figure.zooms || !figure.timeline) << figure.id << " does not zoom";
      EXPECT_GT(figure.ink, 1) << figure.id << " is blank";
    }
    EXPECT_EQ(found, expected);
    const fs::path shot = kOut / (tag + "-" + theme + ".png");
    fs::remove(shot);
    const int height = expected.contains("map") ? 1100 : 4700;
    open(page, "#" + theme, "--window-size=1200," + std::to_string(height) + " --screenshot='" + shot.string() + "'",
         tag + "-" + theme + "-shot");
    EXPECT_TRUE(fs::exists(shot));
  }
}

#define NEEDS_BROWSER() \
  if (browser().empty()) GTEST_SKIP() << "no Chromium on this machine: apt-get install chromium"

}  // namespace

TEST(Report, CallDrawsEveryFigure) {
  NEEDS_BROWSER();
  CallReport call = described("THR 24 with a spinner");
  call.run.emplace().bytes = 200'000;
  call.run->complete = true;
  call.run->transfer_s = 36.4;
  call.run->reference = {"INT", true, false, 36.37};
  expect_drawn(call_report("call", {}, call),
               {"pending", "latency-0", "latency-1", "latency-2", "latency-3", "latency-4", "elapsed", "latency-time",
                "cpu", "share", "close-up-0", "close-up-1", "period", "timer", "transfer", "constellation-0"},
               "call");
}

TEST(Report, StarvedCallShowsItsFirstLoss) {
  NEEDS_BROWSER();
  CallReport call = described("THR 8 with a spinner");
  call.run.emplace().bytes = 200'000;
  call.run->complete = false;
  call.warnings = {"The log ends in the middle of an event: what came after 29.9 s is missing."};
  expect_drawn(
      call_report("starved", {.seconds = 30, .starved = true}, call),
      {"pending", "latency-0", "latency-1", "latency-2", "latency-3", "latency-4", "elapsed", "latency-time", "cpu",
       "share", "close-up-0", "close-up-1", "close-up-2", "period", "timer", "transfer", "constellation-0"},
      "starved");
}

TEST(Report, EmptyLogStillMakesAPage) {
  NEEDS_BROWSER();
  fs::create_directories(kOut);
  Analyzer analyzer;
  const fs::path path = kOut / "empty.html";
  write_file(path, call_page(described("nothing happened"), analyzer.finish()));
  const Opened opened = open(path, "", "--dump-dom", "empty");
  EXPECT_THAT(console_lines(opened.console), testing::IsEmpty());
  EXPECT_THAT(opened.dom, testing::HasSubstr("data-ready=\"yes\""));
  for (const Figure& figure : figures_of(opened.dom)) EXPECT_TRUE(figure.drawn) << figure.id;
}

TEST(Report, SweepDrawsTheReservationMap) {
  NEEDS_BROWSER();
  fs::create_directories(kOut);
  const fs::path path = kOut / "sweep.html";
  write_file(path, sweep_page(table3()));
  expect_drawn(path, {"map"}, "sweep");
}

TEST(Report, DenseSweepDrawsCells) {
  NEEDS_BROWSER();
  fs::create_directories(kOut);
  SweepReport sweep;
  sweep.title = "Synthetic map";
  sweep.device = DeviceTiming{.transmit_lead_samples = 210, .cost_ms = 1.74};
  for (int x = 1; x <= 32; ++x) {
    for (int y = 1; y <= 64; ++y) {
      if (x > 2 * y) continue;
      SweepRow row;
      row.name = std::to_string(0.25 * x) + "/" + std::to_string(0.5 * y);
      row.reservation = SweepRow::Reservation{0.25 * x, 0.5 * y};
      const double margin = full_law(*sweep.device, 0.25 * x * sweep.tick_ms, 0.5 * y * sweep.tick_ms).margin_ms;
      row.result.runs = 1;
      row.result.complete = margin > -0.7;
      row.result.verdict = margin >= 0     ? Verdict::kSufficient
                           : margin > -0.7 ? Verdict::kMarginal
                                           : Verdict::kInsufficient;
      sweep.rows.push_back(row);
    }
  }
  const fs::path path = kOut / "dense.html";
  write_file(path, sweep_page(sweep));
  expect_drawn(path, {"map"}, "dense");
}

TEST(Report, PrintsWithoutErrors) {
  NEEDS_BROWSER();
  const fs::path path = call_report("print", {.seconds = 4}, described("printed"));
  const fs::path pdf = kOut / "print.pdf";
  fs::remove(pdf);
  const Opened opened = open(path, "#dark", "--no-pdf-header-footer --print-to-pdf='" + pdf.string() + "'", "print");
  EXPECT_THAT(console_lines(opened.console), testing::IsEmpty());
  ASSERT_TRUE(fs::exists(pdf));
  // Canvases are printed as pictures: two per chart over time, one per timeline. Otherwise they would be blank.
  const std::string bytes = read(pdf);
  std::size_t pictures = 0;
  for (std::size_t at = 0; (at = bytes.find("/Subtype /Image", at)) != std::string::npos; ++at) ++pictures;
  EXPECT_GE(pictures, 10u);
}

TEST(Report, ConsoleErrorsAreSeenByThisTest) {
  NEEDS_BROWSER();
  fs::create_directories(kOut);
  const fs::path path = kOut / "broken.html";
  std::string html = sweep_page(table3());
  html.insert(html.rfind("</body>"), "<script>nothing.here();</script><img src=\"https://example.org/x.png\">");
  std::ofstream(path, std::ios::binary) << html;
  const auto lines = console_lines(open(path, "", "--dump-dom", "broken").console);
  EXPECT_THAT(lines, testing::Contains(testing::HasSubstr("nothing is not defined")));
  EXPECT_THAT(lines, testing::Contains(testing::HasSubstr("Content Security Policy")));  // no request leaves the page
}
