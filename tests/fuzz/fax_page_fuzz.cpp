// SPDX-License-Identifier: MIT
//
// What offhook decode reads of a fax: frames of T.30 of any octets, carriers of pages of any bits, with and without
// error correction. Frames with right check sequences, which a fuzzer would never guess, are made of the input. The
// lines of a page, written in T.6, are read as they were.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "dsp/link/hdlc.h"
#include "src/decode/fax/pages.h"

using namespace offhook;
using namespace offhook::decode;

namespace {

using Octets = std::vector<std::uint8_t>;

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  std::uint8_t octet() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  Octets octets(std::size_t n) {
    Octets out;
    for (; n > 0 && left_ > 0; --n) out.push_back(octet());
    return out;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

void add(BitString& bits, const Octets& octets) {
  for (const std::uint8_t octet : octets) {
    for (int k = 0; k < 8; ++k) bits.add(octet >> k & 1);
  }
}

// FCD with a correct check sequence.
void add_frame(BitString& bits, const Octets& octets) {
  std::uint8_t buffer[300];
  v42::HdlcSender hdlc;
  hdlc.init(buffer);
  const auto to_flag = [&] {
    do bits.add(hdlc.next());
    while (!hdlc.ready());
  };
  to_flag();
  std::copy(octets.begin(), octets.end(), buffer);
  hdlc.load(octets.size(), false);
  to_flag();
}

PageCarrier carrier(Input& in, const PageRate& rate, double t) {
  PageCarrier c{.rate = rate, .t0 = t, .t1 = t + 1, .trained = in.octet() % 8 != 0};
  for (int parts = in.octet() % 8; parts > 0; --parts) {
    const std::uint8_t what = in.octet();
    if (what & 1) {
      Octets f = {0xFF, 0x03, static_cast<std::uint8_t>(what & 2 ? 0x06 : 0x86), in.octet()};
      const Octets data = in.octets(what >> 2);
      f.insert(f.end(), data.begin(), data.end());
      f.resize(4 + (what & 128 ? 256 : 64));
      add_frame(c.bits, f);
    } else {
      add(c.bits, in.octets(what >> 1));
    }
  }
  return c;
}

void check(const FaxPages& read) {
  for (const FaxPage& page : read.pages) {
    if (!page.format.rate) std::abort();
    if (page.reading.lines > kMostPageLines || page.reading.bad_lines() > page.reading.lines) std::abort();
    for (const FaxBlock& b : page.blocks) {
      if (b.data.size() > 256 || b.missing().size() > 256) std::abort();
    }
    if (!page.format.coding) continue;
    // Lines with changes outside of the pixels, or not from left to right, are invalid.
    int lines = 0;
    std::vector<LineChanges> all;
    T6Writer writer(page.format.width);
    read_page(page.bits, *page.format.coding, page.format.width, [&](const LineChanges& line) {
      ++lines;
      for (std::size_t k = 0; k < line.size(); ++k) {
        if (line[k] >= page.format.width || (k > 0 && line[k] <= line[k - 1])) std::abort();
      }
      writer.add(line);
      all.push_back(line);
    });
    if (lines != page.reading.lines) std::abort();
    BitString again;
    for (const std::uint8_t octet : writer.finish()) {
      for (int k = 7; k >= 0; --k) again.add(octet >> k & 1);
    }
    std::size_t next = 0;
    const PageReading r = read_page(again, PageCoding::kT6, page.format.width, [&](const LineChanges& line) {
      if (next >= all.size() || line != all[next++]) std::abort();
    });
    if (r.lines != lines || (!r.ended && lines < kMostPageLines)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  constexpr std::uint8_t kFields[] = {0x83, 0xBF, 0xBC, 0x8C, 0x4C, 0x4E, 0x2E, 0x8E, 0x12, 0xCE, 0x1C, 0x80, 0xFB};
  Input in(data, size);
  PageAssembler pages;
  for (double t = 1; !in.empty(); t += 1) {
    const std::uint8_t what = in.octet();
    if (what % 3 == 0 && pages.expects_carrier()) {
      std::vector<PageCarrier> carriers;
      for (int n = what >> 6; n >= 0; --n) carriers.push_back(carrier(in, pages.rate(), t));
      pages.take(carriers);
      continue;
    }
    FaxFrame f;
    f.t = t;
    f.received.octets = {0xFF, 0x13, what & 128 ? in.octet() : kFields[what % std::size(kFields)]};
    const Octets rest = in.octets(what % 33);
    f.received.octets.insert(f.received.octets.end(), rest.begin(), rest.end());
    f.name = fax_frame_name(f.received.octets[2]);
    f.meaning = fax_meaning(f.name, f.received.octets);
    pages.take(f);
  }
  check(pages.finish());
  return 0;
}
