// SPDX-License-Identifier: MIT
#include "src/decode/fax/pages.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dsp/link/hdlc.h"

namespace offhook::decode {
namespace {

constexpr std::uint8_t kFcd = 0x06, kRcp = 0x86;
constexpr std::size_t kFcdHead = 4;  // address, control, FCD, number of the frame
constexpr double kLeastWindowS = 0.25;
constexpr double kTestS = 1.35;  // of TCF, 1.5 s +- 10 %, that is certainly present

// From the beginning of its training to the latest continuation of an interrupted test; CFR takes more than a second.
double longest_test_s(PageModem modem) {
  constexpr double kZerosS = 1.65, kMoreS = 0.3;
  return (modem == PageModem::kV17 ? 1.4 : modem == PageModem::kV29 ? 0.3 : 1.0) + kZerosS + kMoreS;
}

bool has_frames(const std::vector<std::vector<std::uint8_t>>& frames) {
  return std::any_of(frames.begin(), frames.end(), [](const auto& f) { return !f.empty(); });
}

bool is_answer(const std::string& name) {
  constexpr const char* kAnswers[] = {"MCF", "RTN", "RTP", "PIP", "PIN", "PPR", "ERR"};
  return std::any_of(std::begin(kAnswers), std::end(kAnswers), [&](const char* a) { return name == a; });
}

bool is_end_of_page(const std::string& name) {
  constexpr const char* kEnds[] = {"MPS", "EOM", "EOP", "PRI-MPS", "PRI-EOM", "PRI-EOP", "EOS"};
  return std::any_of(std::begin(kEnds), std::end(kEnds), [&](const char* e) { return name == e; });
}

// The bits of a page with error correction. Zeros replace missing frames. No code word of T.4 has that many zeros, and
// the reader finds the next line by its EOL.
BitString joined(const std::vector<FaxBlock>& blocks) {
  constexpr std::size_t kGapOctets = 4;
  BitString all;
  for (const FaxBlock& block : blocks) {
    bool before = true;
    for (std::size_t k = 0; k < std::max(block.data.size(), static_cast<std::size_t>(block.frames)); ++k) {
      const bool there = k < block.data.size() && !block.data[k].empty();
      if (there) all.octets.insert(all.octets.end(), block.data[k].begin(), block.data[k].end());
      if (!there && before) all.octets.insert(all.octets.end(), kGapOctets, 0);
      before = there;
    }
  }
  all.size = 8 * all.octets.size();
  return all;
}

// As a receiver would have given it.
PageCarrier page_carrier(const T38Carrier& c) {
  constexpr PageRate kRates[] = {{PageModem::kV27ter, 2400}, {PageModem::kV27ter, 4800}, {PageModem::kV29, 7200},
                                 {PageModem::kV29, 9600},    {PageModem::kV17, 7200},    {PageModem::kV17, 9600},
                                 {PageModem::kV17, 12000},   {PageModem::kV17, 14400}};
  PageCarrier out{.rate = kRates[std::clamp(c.data_type, 1, 8) - 1], .t0 = c.t0, .t1 = c.t1, .trained = true};
  out.bits.octets = c.octets;
  out.bits.size = 8 * c.octets.size();
  std::size_t from = 0;
  for (const std::size_t end : c.frame_ends) {
    out.frames.emplace_back(c.frames.begin() + static_cast<long>(from), c.frames.begin() + static_cast<long>(end));
    from = end;
  }
  out.bad_frames = static_cast<int>(c.bad_frames);
  out.lost_packets = static_cast<int>(c.lost);
  return out;
}

}  // namespace

std::vector<int> FaxBlock::missing() const {
  std::vector<int> all;
  const int most = std::max(frames, static_cast<int>(data.size()));
  for (int k = 0; k < most; ++k) {
    if (static_cast<std::size_t>(k) >= data.size() || data[static_cast<std::size_t>(k)].empty()) all.push_back(k);
  }
  return all;
}

int FaxPage::missing_frames() const {
  int n = 0;
  for (const FaxBlock& block : blocks) n += static_cast<int>(block.missing().size());
  return n;
}

bool FaxPage::whole() const {
  return reading.lines > 0 && reading.ended && reading.bad.empty() && missing_frames() == 0;
}

void PageAssembler::take(const FaxFrame& f) {
  const std::span<const std::uint8_t> octets = f.received.octets;
  if (f.name == "DCS") {
    flush_pending();
    block_closed_ = page_closed_ = true;
    format_ = page_format(octets);
    expects_ = format_.rate.has_value();
    channel_ = f.channel;
    test_next_ = true;
    learnt_ = false;
  } else if (f.name == "DIS" || f.name == "DTC" || f.name == "NSS" || f.name == "DCN") {
    expects_ = false;
  } else if (f.name == "CTC" && expects_) {
    const std::optional<PageRate> rate = page_rate(octets);
    expects_ = rate.has_value();
    if (rate) format_.rate = rate;
    test_next_ = learnt_ = false;
  } else if (f.name == "PPS" && format_.rate && format_.error_correction) {
    if (const auto part = partial_page(octets)) end_block(*part);
  } else if (is_end_of_page(f.name) && !result_.pages.empty() && result_.pages.back().blocks.empty() &&
             result_.pages.back().response.empty()) {
    result_.pages.back().end = f.name;
    awaits_answer_ = true;
  } else if (is_answer(f.name)) {
    answer(f.name);
  }
}

void PageAssembler::answer(const std::string& name) {
  if (!awaits_answer_ || result_.pages.empty()) return;
  FaxPage& page = result_.pages.back();
  if (name != "PPR") awaits_answer_ = false;
  if (page.blocks.empty()) {
    page.response = name;
    return;
  }
  if (name == "PPR") return;  // more frames of this block follow
  block_closed_ = true;
  page_closed_ = page.blocks.back().then != "NULL";
  if (page_closed_) page.response = name;
}

void PageAssembler::take(const std::vector<PageCarrier>& carriers) {
  bool page_read = false;
  const bool begins_with_test = std::exchange(test_next_, false);
  for (const PageCarrier& c : carriers) {
    FaxCarrier entry{.channel = channel_, .t0 = c.t0, .t1 = c.t1, .rate = c.rate, .trained = c.trained};
    entry.bits = c.bits.size;
    entry.lost_packets = c.lost_packets;
    // An interrupted test is more than one carrier. A page follows if the answer between them was not recorded.
    entry.test = begins_with_test && c.t0 < carriers.front().t0 + longest_test_s(c.rate.modem);
    learnt_ |= c.trained;
    if (entry.test) {
      const auto tested = static_cast<std::size_t>(kTestS * c.rate.bit_rate);
      for (std::size_t k = 0; k < std::min(tested, c.bits.size); ++k)
        entry.wrong_bits += c.bits.octets[k / 8] >> k % 8 & 1;
    } else if (format_.error_correction) {
      take_frames(c, entry);
    } else if (c.trained) {
      FaxPage page{.channel = channel_, .t0 = c.t0, .t1 = c.t1, .format = format_, .bits = c.bits};
      if (format_.coding) page.reading = read_page(page.bits, *format_.coding, format_.width);
      if (!page_read || page.reading.lines > 0) result_.pages.push_back(std::move(page));
      page_read = true;
    }
    result_.carriers.push_back(entry);
  }
}

// @param frame  without its check sequence  @return whether it is RCP, behind which the rest is the end of the carrier
bool PageAssembler::take_frame(std::span<const std::uint8_t> frame, FaxCarrier& entry) {
  if (frame.size() <= kFcdHead || frame[0] != kT30Address || frame[2] != kFcd)
    return frame.size() > 2 && frame[2] == kRcp;
  ++entry.good_frames;
  const std::size_t number = frame[3];
  if (pending_.size() <= number) pending_.resize(number + 1);
  if (!pending_[number].empty()) ++pending_repeats_;
  pending_[number].assign(frame.begin() + kFcdHead, frame.end());
  return false;
}

void PageAssembler::take_frames(const PageCarrier& c, FaxCarrier& entry) {
  std::uint8_t buffer[kFcdHead + 256 + 2 + 2];
  v42::HdlcReceiver hdlc;
  hdlc.init(buffer, sizeof buffer);
  if (!has_frames(pending_)) pending_t0_ = c.t0;
  pending_t1_ = c.t1;
  for (const auto& frame : c.frames) take_frame(frame, entry);
  entry.bad_frames = c.bad_frames;
  bool over = false;
  for (std::size_t k = 0; k < c.bits.size; ++k) {
    const auto result = hdlc.put(c.bits.octets[k / 8] >> k % 8 & 1);
    if (result == v42::HdlcReceiver::kBadFrame && entry.good_frames > 0 && !over) ++entry.bad_frames;
    if (result != v42::HdlcReceiver::kFrame || !hdlc.fcs16() || hdlc.oversize()) continue;
    over |= take_frame({buffer, hdlc.size() - 2}, entry);
  }
}

void PageAssembler::begin_block(int page, int number) {
  const bool other = result_.pages.empty() || result_.pages.back().blocks.empty() || page_closed_ ||
                     result_.pages.back().blocks.back().page != page;
  if (other) result_.pages.push_back({.channel = channel_, .t0 = pending_t0_, .t1 = pending_t1_, .format = format_});
  result_.pages.back().blocks.push_back({.page = page, .number = number});
  block_closed_ = page_closed_ = false;
}

void PageAssembler::put_pending_into(FaxBlock& block) {
  block.repeated += std::exchange(pending_repeats_, 0);
  if (block.data.size() < pending_.size()) block.data.resize(pending_.size());
  for (std::size_t k = 0; k < pending_.size(); ++k) {
    if (pending_[k].empty()) continue;
    if (!block.data[k].empty()) ++block.repeated;
    block.data[k] = std::move(pending_[k]);
  }
  pending_.clear();
}

void PageAssembler::end_block(const PartialPage& part) {
  const bool more = has_frames(pending_);
  const FaxBlock* last =
      result_.pages.empty() || result_.pages.back().blocks.empty() ? nullptr : &result_.pages.back().blocks.back();
  // PPS is sent again if there was no answer to it, and behind the frames that PPR requested.
  const bool same =
      last != nullptr && last->page == part.page && last->number == part.block && (!block_closed_ || !more);
  if (!same) begin_block(part.page, part.block);
  FaxPage& page = result_.pages.back();
  FaxBlock& block = page.blocks.back();
  if (more) page.t1 = pending_t1_;
  put_pending_into(block);
  block.frames = std::max(block.frames, part.frames);  // for a repetition, PPS counts the repeated frames
  block.then = part.then;
  page.end = "PPS-" + part.then;
  awaits_answer_ = true;
}

// Frames behind which no PPS was read belong to the block that is open, or to the next one.
void PageAssembler::flush_pending() {
  if (!has_frames(pending_)) return;
  const FaxPage* page = result_.pages.empty() || result_.pages.back().blocks.empty() ? nullptr : &result_.pages.back();
  if (page == nullptr || page_closed_) {
    begin_block(page != nullptr ? page->blocks.back().page + 1 : 0, 0);
  } else if (block_closed_) {
    begin_block(page->blocks.back().page, page->blocks.back().number + 1);
  }
  result_.pages.back().t1 = pending_t1_;
  put_pending_into(result_.pages.back().blocks.back());
}

FaxPages PageAssembler::finish() {
  flush_pending();
  for (FaxPage& page : result_.pages) {
    if (page.blocks.empty()) continue;
    page.bits = joined(page.blocks);
    if (page.format.coding) page.reading = read_page(page.bits, *page.format.coding, page.format.width);
  }
  return std::move(result_);
}

FaxPages read_pages(const std::vector<std::vector<float>>& channels, std::span<const FaxFrame> frames,
                    std::vector<std::pair<double, double>> bursts) {
  const bool any = std::any_of(frames.begin(), frames.end(), [](const FaxFrame& f) { return f.name == "DCS"; });
  if (!any) return {};
  for (const FaxFrame& f : frames) bursts.emplace_back(f.t, f.received.t_end);
  std::sort(bursts.begin(), bursts.end());
  PageAssembler pages;
  PageReceiver receiver;
  auto next = frames.begin();
  double from = 0;
  for (std::size_t k = 0; k <= bursts.size(); ++k) {
    const double to = k < bursts.size() ? bursts[k].first : HUGE_VAL;
    for (; next != frames.end() && next->t < from; ++next) pages.take(*next);
    if (to - from > kLeastWindowS && pages.expects_carrier()) {
      const std::span<const float> x = channels[static_cast<std::size_t>(pages.channel())];
      auto carriers = receiver.receive(x, from, to, pages.rate(), pages.short_training());
      const auto trained = [&] {
        return std::any_of(carriers.begin(), carriers.end(), [](const PageCarrier& c) { return c.trained; });
      };
      if (pages.short_training() && !trained()) carriers = receiver.receive(x, from, to, pages.rate(), false);
      pages.take(carriers);
    }
    if (k < bursts.size()) from = std::max(from, bursts[k].second);
  }
  return pages.finish();
}

FaxPages read_t38_pages(std::span<const FaxFrame> frames, std::span<const T38Carrier> carriers) {
  PageAssembler pages;
  auto next = frames.begin();
  for (const T38Carrier& c : carriers) {
    for (; next != frames.end() && next->t < c.t0; ++next) pages.take(*next);
    if (!pages.expects_carrier() || c.channel != pages.channel()) continue;
    // The gateways may test each its own line: then only the training is announced, and no carrier is to be read.
    std::vector<PageCarrier> one;
    if (!c.octets.empty() || !c.frame_ends.empty() || c.bad_frames > 0) one.push_back(page_carrier(c));
    pages.take(one);
  }
  for (; next != frames.end(); ++next) pages.take(*next);
  return pages.finish();
}

}  // namespace offhook::decode
