// SPDX-License-Identifier: MIT
//
// A scenario's telephone line between two modems that are other programs (docs/interop.md): what such a program does
// with itself is the benchmark target for what it does with us.
//
//   line_of_two SCENARIO NEAR FAR NEAR_FILE FAR_FILE OCTETS LIMIT_S [KEY=VALUE ...]
//
// NEAR and FAR are addresses as of `offhook run --far-end`. The call is over when NEAR_FILE and FAR_FILE, which the
// programs write, have OCTETS each, when a program has left, or after LIMIT_S of the line's time. Prints one JSON
// object: the line's time at the first octet of either file and at the end, in seconds, and why it ended.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hostsim/channel/line.h"
#include "hostsim/channel/sample.h"
#include "src/program/command/socket_modem.h"
#include "traces/scenario/scenario.h"

namespace {

using offhook::hostsim::kLineRateHz;

constexpr std::size_t kBlock = 8;
constexpr std::uint64_t kLook = kLineRateHz / 10;  // samples between two checks of the files

std::uintmax_t octets_in(const char* path) {
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  return none ? 0 : size;
}

/// The modem at the far end of the line.
class Far final : public offhook::hostsim::FarEnd {
 public:
  explicit Far(offhook::SocketModem& modem) : modem_(modem) {}
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override { modem_.process(rx, tx, n); }

 private:
  offhook::SocketModem& modem_;
};

int run(int argc, char** argv) {
  if (argc < 8) {
    std::fprintf(stderr, "usage: line_of_two SCENARIO NEAR FAR NEAR_FILE FAR_FILE OCTETS LIMIT_S [KEY=VALUE ...]\n");
    return 1;
  }
  offhook::config::ScenarioBuilder builder;
  builder.apply_file(argv[1]);
  for (int k = 8; k < argc; ++k) builder.set(argv[k]);
  const offhook::hostsim::Scenario scenario = builder.finish();
  const std::uintmax_t octets = std::strtoull(argv[6], nullptr, 10);
  const std::uint64_t limit = std::strtoull(argv[7], nullptr, 10) * kLineRateHz;

  const auto always = [] { return true; };
  offhook::SocketModem near(offhook::FarEndAddress::parse(argv[2]), always);
  offhook::SocketModem other(offhook::FarEndAddress::parse(argv[3]), always);
  Far far(other);
  offhook::hostsim::Line line(scenario.line, scenario.seed, far);

  std::array<std::int16_t, kBlock> played{}, captured{};
  double first_s = -1;
  std::string ending = "the time limit was reached";
  std::uint64_t at = 0;
  for (; at < limit; at += kBlock) {
    near.process(captured.data(), played.data(), kBlock);
    line.exchange(played.data(), captured.data(), kBlock);
    if (!near.failure().empty() || !other.failure().empty()) {
      ending = near.failure().empty() ? "the far program " + other.failure() : "the near program " + near.failure();
      break;
    }
    if (at % kLook != 0) continue;
    const std::uintmax_t have[] = {octets_in(argv[4]), octets_in(argv[5])};
    if (first_s < 0 && (have[0] > 0 || have[1] > 0)) first_s = static_cast<double>(at) / kLineRateHz;
    if (have[0] >= octets && have[1] >= octets) {
      ending = "the files arrived";
      break;
    }
  }
  const nlohmann::ordered_json result{
      {"first_s", first_s}, {"end_s", static_cast<double>(at) / kLineRateHz}, {"ending", ending}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "line_of_two: error: %s\n", error.what());
    return 1;
  }
}
