// SPDX-License-Identifier: MIT
#include "dsp/dmt/bit_swap.h"

#include "dsp/dmt/constellation.h"
#include "dsp/dmt/crc.h"

namespace offhook::dmt {
namespace {

constexpr uint8_t kRequest = 0xff, kAcknowledge = 0xf0;
constexpr uint8_t kMore = 1, kLess = 2;
static_assert(3 + 2 * SwapRequest::kMost + kCrcOctets <= kOperationOctets);

constexpr float kSmall = static_cast<float>(db_to_gain(kMarginDb));  // half the step, as a ratio of powers
constexpr float kWorthwhile = static_cast<float>(db_to_gain(2 * 1.0));

/// The factor of a margin for one more bit.
struct OneMore {
  float of[kMostBits];
};
constexpr OneMore make_one_more() {
  OneMore m{};
  for (int bits = 1; bits < kMostBits; ++bits)
    m.of[bits] = static_cast<float>((1 << bits) - 1) / static_cast<float>((2 << bits) - 1);
  return m;
}
constexpr OneMore kOneMore = make_one_more();

}  // namespace

void write_operation(const Operation& o, uint8_t* octets) {
  for (int k = 0; k < kOperationOctets; ++k) octets[k] = 0;
  int n = 0;
  if (o.kind == Operation::Kind::kNone) return;
  if (o.kind == Operation::Kind::kRequest) {
    octets[n++] = kRequest;
    octets[n++] = o.request.id;
    octets[n++] = static_cast<uint8_t>(o.request.count);
    for (int k = 0; k < o.request.count; ++k) {
      octets[n++] = o.request.changes[k].tone;
      octets[n++] = o.request.changes[k].more ? kMore : kLess;
    }
  } else {
    octets[n++] = kAcknowledge;
    octets[n++] = o.id;
    octets[n++] = o.superframe;
  }
  const uint16_t crc = crc_of(octets, n);
  octets[n++] = static_cast<uint8_t>(crc);
  octets[n] = static_cast<uint8_t>(crc >> 8);
}

Operation read_operation(const uint8_t* octets) {
  Operation o;
  const bool request = octets[0] == kRequest;
  if (!request && octets[0] != kAcknowledge) return o;
  if (request && octets[2] > SwapRequest::kMost) return o;
  const int n = 3 + (request ? 2 * octets[2] : 0);
  if (crc_of(octets, n) != (octets[n] | octets[n + 1] << 8)) return o;
  if (!request) {
    o.kind = Operation::Kind::kAcknowledge;
    o.id = octets[1];
    o.superframe = octets[2];
    return o;
  }
  o.request.id = octets[1];
  o.request.count = octets[2];
  for (int k = 0; k < o.request.count; ++k) {
    const uint8_t command = octets[4 + 2 * k];
    if (command != kMore && command != kLess) return o;
    o.request.changes[k] = {octets[3 + 2 * k], command == kMore};
  }
  o.kind = Operation::Kind::kRequest;
  return o;
}

bool swap_bits(const Band& band, const SwapRequest& request, Loading* loading) {
  Loading changed = *loading;
  int balance = 0;
  for (int k = 0; k < request.count; ++k) {
    const auto& [tone, more] = request.changes[k];
    if (!band.carries(tone) || (!more && changed.bits[tone] == 0)) return false;
    changed.bits[tone] = static_cast<uint8_t>(changed.bits[tone] + (more ? 1 : -1));
    balance += more ? 1 : -1;
  }
  if (balance != 0) return false;
  for (int k = 0; k < request.count; ++k) {
    const int bits = changed.bits[request.changes[k].tone];
    if (bits != 0 && (bits < kLeastBits || bits > band.most_bits)) return false;
  }
  // A tone that is added or removed changes the bits that the trellis code takes.
  if (!changed.fits(band)) return false;
  *loading = changed;
  return true;
}

float margin_of(const Loading& loading, int tone, float error) {
  const float gain = loading.gain(tone);
  return gain * gain / (error * loading.gap() * static_cast<float>((1 << loading.bits[tone]) - 1));
}

bool propose_swap(const Band& band, const Loading& loading, const float* margin, SwapRequest* request) {
  request->count = 0;
  uint8_t now[kMostTones] = {};
  float margins[kMostTones] = {};
  bool small = false;
  for (int k = band.first; k <= band.last; ++k) small = small || (margin[k] > 0 && margin[k] < kSmall);
  if (!small) return false;
  for (int k = band.first; k <= band.last; ++k) {
    now[k] = loading.bits[k];
    margins[k] = margin[k];
  }
  while (request->count + 2 <= SwapRequest::kMost) {
    int from = -1, to = -1;
    float least = kSmall, most = 0;
    for (int k = band.first; k <= band.last; ++k) {
      const int bits = now[k];
      if (bits == 0 || margins[k] <= 0) continue;
      // The last two bits of a tone would have to move to two tones at once.
      if (bits > kLeastBits && margins[k] < least) {
        least = margins[k];
        from = k;
      }
      if (bits == band.most_bits) continue;
      const float with_one_more = margins[k] * kOneMore.of[bits];
      if (with_one_more > most) {
        most = with_one_more;
        to = k;
      }
    }
    if (from < 0 || to < 0 || from == to || most < kWorthwhile * least) break;
    request->changes[request->count++] = {static_cast<uint8_t>(from), false};
    request->changes[request->count++] = {static_cast<uint8_t>(to), true};
    margins[from] /= kOneMore.of[--now[from]];
    margins[to] *= kOneMore.of[now[to]++];
  }
  return request->count > 0;
}

}  // namespace offhook::dmt
