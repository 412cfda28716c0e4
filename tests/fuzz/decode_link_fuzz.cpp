// SPDX-License-Identifier: MIT
//
// What offhook decode reads in the bits of two directions: frames with right check sequences (which a fuzzer would
// never guess), what damaged them, and XID frames that agree on any compression. Frames that nothing damaged are all
// found, also where a retrain cuts one in two, and what they carried comes out of V.42bis as it went in.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "dsp/link/hdlc.h"
#include "dsp/link/v42bis.h"
#include "dsp/link/xid.h"
#include "src/decode/line/link.h"

using namespace offhook;
using namespace offhook::decode;

namespace {

constexpr std::size_t kMostInformation = 256;
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
  std::uint16_t word() {
    const std::uint8_t high = octet();
    return static_cast<std::uint16_t>(high << 8 | octet());
  }
  Octets octets(std::size_t most) {
    Octets out;
    for (std::size_t n = octet() % (most + 1); n > 0 && left_ > 0; --n) out.push_back(octet());
    return out;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

/// One direction, as sent by its modem.
class Sender {
 public:
  Sender() { hdlc_.init(buffer_); }
  void frame(const Octets& octets, bool fcs32) {
    to_flag();
    for (std::size_t n = 0; n < octets.size(); ++n) hdlc_.buffer()[n] = octets[n];
    hdlc_.load(octets.size(), fcs32);
    to_flag();
  }
  void information(const Octets& octets, bool fcs32) {
    Octets f{0x03, static_cast<std::uint8_t>(sequence_++ << 1), 0};
    f.insert(f.end(), octets.begin(), octets.end());
    frame(f, fcs32);
    ++frames;
  }
  void xid(const v42::Xid& xid, bool response) {
    Octets f(2 + v42::kXidSize);
    f[0] = 0x03;
    f[1] = 0xAF;
    f.resize(2 + v42::write_xid(xid, response, f.data() + 2));
    frame(f, false);
    ++frames;
  }
  Octets bits;
  std::size_t frames = 0;

 private:
  void to_flag() {
    do bits.push_back(static_cast<std::uint8_t>(hdlc_.next()));
    while (!hdlc_.ready());
  }
  v42::HdlcSender hdlc_;
  std::uint8_t buffer_[kMostInformation + 2 * v42::kXidSize] = {};
  std::uint8_t sequence_ = 0;
};

v42::Xid any_xid(Input& in) {
  v42::Xid x;
  const std::uint8_t what = in.octet();
  x.v42bis = (what & 1) != 0;
  x.v44 = (what & 2) != 0;
  x.fcs32 = (what & 4) != 0;
  x.compress = what >> 3 & 3;
  x.v44_directions = what >> 5 & 3;
  x.n401_tx = x.n401_rx = 128;
  x.k_tx = x.k_rx = 15;
  x.codewords = in.word();
  x.max_string = in.octet();
  x.v44_tx = x.v44_rx = {in.word(), in.octet(), in.word()};
  return x;
}

/// In two data modes, with a retrain in between.
std::vector<Link> read(const Octets& bits, std::size_t cut) {
  const std::size_t at = bits.empty() ? 0 : cut % bits.size();
  DataHeard heard[2];
  for (DataHeard& h : heard) h.bit_rate = 33600;
  heard[0].bits.assign(bits.begin(), bits.begin() + static_cast<std::ptrdiff_t>(at));
  heard[1].bits.assign(bits.begin() + static_cast<std::ptrdiff_t>(at), bits.end());
  std::vector<Link> links{read_link(heard[0])};
  links.push_back(read_link(heard[1], &links[0]));
  return links;
}

/// Data from one user to the other, with V.42bis offered by both ends or without.
void undamaged(Input& in, bool v42bis, bool fcs32, std::size_t cut) {
  constexpr std::uint16_t kCodewords = 512;
  constexpr std::uint8_t kString = 6;
  std::vector<std::uint64_t> memory(v42::Dictionary::size(kCodewords) / sizeof(std::uint64_t));
  v42::Encoder encoder;
  encoder.init(reinterpret_cast<std::uint8_t*>(memory.data()), kCodewords, kString);
  Sender call, answer;
  if (v42bis) {
    v42::Xid xid;
    xid.n401_tx = xid.n401_rx = 128;
    xid.k_tx = xid.k_rx = 15;
    xid.v42bis = true;
    xid.compress = 3;
    call.xid(xid, false);
    answer.xid(xid, true);
  }
  Octets written;
  while (!in.empty()) {
    const Octets plain = in.octets(kMostInformation / 4);
    written.insert(written.end(), plain.begin(), plain.end());
    Octets sent = plain;
    if (v42bis) {
      std::uint8_t step[v42::Encoder::kMaxStep];
      sent.clear();
      for (const std::uint8_t character : plain) sent.insert(sent.end(), step, step + encoder.put(character, step));
      sent.insert(sent.end(), step, step + encoder.flush(step));
    }
    for (std::size_t from = 0; from == 0 || from < sent.size(); from += kMostInformation / 2) {
      const std::size_t n = std::min(kMostInformation / 2, sent.size() - from);
      const auto first = sent.begin() + static_cast<std::ptrdiff_t>(from);
      call.information({first, first + static_cast<std::ptrdiff_t>(n)}, fcs32);
    }
  }
  std::vector<Link> one = read(call.bits, cut), other = read(answer.bits, cut);
  uncompress(one, other);
  if (one[0].frames.size() + one[1].frames.size() != call.frames) std::abort();
  Octets came;
  for (const Link& link : one) {
    if (link.bad_frames != 0 || link.gaps != 0 || (v42bis && link.v42bis != true)) std::abort();
    came.insert(came.end(), link.payload.begin(), link.payload.end());
  }
  if (came != written) std::abort();
}

void any_frames(Input& in, std::size_t cut) {
  Sender sides[2];
  while (!in.empty()) {
    const std::uint8_t what = in.octet();
    Sender& side = sides[what >> 7];
    const bool fcs32 = (what & 64) != 0;
    switch (what & 7) {
      case 0:
        side.xid(any_xid(in), (what & 32) != 0);
        break;
      case 1:
        side.frame(in.octets(kMostInformation), fcs32);
        break;
      case 2:  // a bit is wrong
        if (!side.bits.empty()) side.bits[in.word() % side.bits.size()] ^= 1;
        break;
      case 3:  // bits are lost
        side.bits.erase(side.bits.end() - std::min<std::ptrdiff_t>(in.octet(), std::ssize(side.bits)), side.bits.end());
        break;
      case 4:
        for (int k = in.octet(); k > 0; --k) side.bits.push_back(what >> 5 & 1);
        break;
      default:
        side.information(in.octets(kMostInformation), fcs32);
    }
  }
  std::vector<Link> one = read(sides[0].bits, cut), other = read(sides[1].bits, cut);
  uncompress(one, other);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3 || size > 4096) return 0;
  Input in(data, size);
  const std::uint8_t what = in.octet();
  const std::size_t cut = in.word();
  if ((what & 1) != 0) {
    any_frames(in, cut);
  } else {
    undamaged(in, (what & 2) != 0, (what & 4) != 0, cut);
  }
  return 0;
}
