// SPDX-License-Identifier: MIT
#include "src/decode/presentation/fax_words.h"

#include <fmt/format.h>

namespace offhook::decode {
namespace {

constexpr std::size_t kMostRanges = 20;

std::string plural(int n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// Differences from the sent page, or "whole".
std::string condition(const FaxPage& p) {
  if (!p.format.coding) return "its coding is not decoded";
  if (p.whole()) return "whole";
  std::string out;
  const auto add = [&out](const std::string& what) { out += (out.empty() ? "" : ", ") + what; };
  if (const int bad = p.reading.bad_lines(); bad > 0)
    add(fmt::format("{}: {}", plural(bad, "damaged line"), ranges(p.reading.bad, 1)));
  for (const FaxBlock& b : p.blocks) {
    const std::vector<int> missing = b.missing();
    std::vector<std::pair<int, int>> stretches;
    for (const int k : missing) {
      if (!stretches.empty() && stretches.back().second == k - 1) {
        stretches.back().second = k;
      } else {
        stretches.emplace_back(k, k);
      }
    }
    if (!missing.empty())
      add(fmt::format("block {} without {}: {}", b.number + 1, plural(static_cast<int>(missing.size()), "frame"),
                      ranges(stretches, 0)));
  }
  if (p.reading.broken) add(fmt::format("lost after line {}", p.reading.lines));
  if (!p.reading.ended && !p.reading.broken) add("no end of the page");
  return out;
}

}  // namespace

std::string t38_name(const T38Frame& frame) {
  constexpr std::size_t kControlField = 2;  // behind address and control
  return frame.octets.size() > kControlField ? fax_frame_name(frame.octets[kControlField]) : "???";
}

const char* coding_name(const PageFormat& format) {
  if (!format.coding) return nullptr;
  constexpr const char* kNames[] = {"T.4 one-dimensional", "T.4 two-dimensional", "T.6"};
  return kNames[static_cast<int>(*format.coding)];
}

std::string ranges(const std::vector<std::pair<int, int>>& all, int from) {
  std::string out;
  for (std::size_t k = 0; k < std::min(all.size(), kMostRanges); ++k) {
    const auto& [first, last] = all[k];
    out += fmt::format("{}{}", k == 0 ? "" : ", ", first + from);
    if (last > first) out += fmt::format("-{}", last + from);
  }
  return out + (all.size() > kMostRanges ? ", ..." : "");
}

std::string describe(const FaxCarrier& c) {
  if (!c.trained) return fmt::format("{} bit/s, its training failed", c.rate.bit_rate);
  std::string out = fmt::format("{} bit/s", c.rate.bit_rate);
  if (c.test) {
    out += fmt::format(", {} wrong", plural(static_cast<int>(c.wrong_bits), "bit"));
  } else if (c.good_frames + c.bad_frames > 0) {
    out += fmt::format(", {}, {} bad", plural(c.good_frames, "good frame"), c.bad_frames);
  } else {
    out += fmt::format(", {} bits", c.bits);
  }
  if (c.lost_packets > 0) out += fmt::format(", {} lost", plural(c.lost_packets, "packet"));
  return out;
}

std::string describe(const FaxPage& p) {
  const char* coding = coding_name(p.format);
  return fmt::format("{} {} bit/s{}, {}, {} x {} pixels, {:.0f} x {:.0f} dpi, {}{}{}", name_of(p.format.rate->modem),
                     p.format.rate->bit_rate, p.format.error_correction ? ", error correction" : "",
                     coding != nullptr ? coding : "another coding", p.format.width, p.reading.lines, p.format.x_dpi,
                     p.format.y_dpi, condition(p), p.end.empty() ? "" : fmt::format("; {}", p.end),
                     p.response.empty() ? "" : fmt::format(", {}", p.response));
}

FieldTable fax_pages(const Call& call) {
  FieldTable t{"Fax pages", {"page", "from s", "to s", "channel", "contents"}, {}, ""};
  int number = 0;
  for (const FaxPage& p : call.fax.sent.pages) {
    t.rows.push_back({std::to_string(++number), fmt::format("{:.2f}", p.t0), fmt::format("{:.2f}", p.t1),
                      std::to_string(p.channel), describe(p)});
  }
  return t;
}

}  // namespace offhook::decode
