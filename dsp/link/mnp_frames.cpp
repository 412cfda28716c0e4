// SPDX-License-Identifier: MIT
#include "dsp/link/mnp_frames.h"

namespace offhook::v42 {
namespace {

// Variable parameters of a link request (A.6.4.1).
enum Parameter : uint8_t {
  kConstant = 1,
  kFraming = 2,
  kWindow = 3,
  kInformation = 4,
  kOptimization = 8,
  kCompression = 9
};
constexpr uint8_t kConstantValue[] = {1, 0, 0, 0, 0, 255};  // A.6.4.1.4; a receiver accepts any value (A.7.1.5.2)
constexpr uint8_t kExtendedLength = 255;                    // A.6.2.1; no known header is that long

template <class T>
T lower(T a, T b) {
  return a < b ? a : b;
}

/// Parameters of one octet that a frame has.
int parameters_of(MnpType type) {
  return type == kLinkAcknowledgement || type == kLinkAttention ? 2 : 1;
}

}  // namespace

LinkRequest common(const LinkRequest& ours, const LinkRequest& theirs) {
  LinkRequest both = ours;
  both.framing = lower(ours.framing, theirs.framing);
  both.k = lower(ours.k, theirs.k);
  both.n401 = lower(ours.n401, theirs.n401);
  both.optimization = ours.optimization & theirs.optimization;
  both.compression = ours.compression & theirs.compression;
  return both;
}

size_t write_link_request(const LinkRequest& r, uint8_t* out) {
  size_t n = 1;
  const auto add = [&](uint8_t type, const uint8_t* value, uint8_t size) {
    out[n++] = type;
    out[n++] = size;
    for (uint8_t i = 0; i < size; ++i) out[n++] = value[i];
  };
  const uint8_t n401[] = {uint8_t(r.n401), uint8_t(r.n401 >> 8)};
  out[n++] = kLinkRequest;
  out[n++] = r.level;
  add(kConstant, kConstantValue, sizeof kConstantValue);
  add(kFraming, &r.framing, 1);
  add(kWindow, &r.k, 1);
  add(kInformation, n401, sizeof n401);
  if (r.optimization != 0) add(kOptimization, &r.optimization, 1);
  if (r.compression != 0) add(kCompression, &r.compression, 1);
  out[0] = uint8_t(n - 1);
  return n;
}

size_t write_header(MnpType type, uint8_t first, uint8_t second, bool fixed, uint8_t* out) {
  const int parameters = parameters_of(type);
  const uint8_t value[] = {first, second};
  size_t n = 1;
  out[n++] = type;
  for (int i = 0; i < parameters; ++i) {
    if (!fixed) {
      out[n++] = uint8_t(i + 1);
      out[n++] = 1;
    }
    out[n++] = value[i];
  }
  out[0] = uint8_t(n - 1);
  return n;
}

bool read_header(const uint8_t* frame, size_t n, MnpHeader* header) {
  if (n < 2 || frame[0] == kExtendedLength || frame[0] < 1 || frame[0] >= n) return false;
  const size_t length = frame[0];
  const uint8_t* value = frame + 2;
  *header = {MnpType(frame[1]), 0, 0, frame + 1 + length, n - 1 - length};
  if (frame[1] == kLinkRequest) {
    header->info = value;
    header->n = length - 1;
    return true;
  }
  if (frame[1] < kLinkDisconnect || frame[1] > kLinkAttentionAnswer || frame[1] == 3) return false;
  const size_t parameters = size_t(parameters_of(header->type));
  uint8_t* to[] = {&header->first, &header->second};
  const bool has_short = frame[1] == kLinkTransfer || frame[1] == kLinkAcknowledgement;
  if (has_short && length == 1 + parameters) {
    for (size_t i = 0; i < parameters; ++i) *to[i] = value[i];
    return true;
  }
  if (length < 1 + 3 * parameters) return false;
  for (size_t i = 0; i < parameters; ++i) {
    if (value[3 * i] != i + 1 || value[3 * i + 1] != 1) return false;
    *to[i] = value[3 * i + 2];
  }
  return true;
}

bool read_link_request(const MnpHeader& header, LinkRequest* request) {
  *request = LinkRequest{};
  if (header.n < 1) return false;
  request->level = header.info[0];
  for (size_t at = 1; at < header.n;) {
    if (at + 2 > header.n || at + 2 + header.info[at + 1] > header.n) return false;
    const uint8_t type = header.info[at], size = header.info[at + 1];
    const uint8_t* value = header.info + at + 2;
    if (type == kFraming && size == 1) request->framing = value[0];
    if (type == kWindow && size == 1) request->k = value[0];
    if (type == kInformation && size == 2) request->n401 = uint16_t(value[0] | value[1] << 8);
    if (type == kOptimization && size == 1) request->optimization = value[0];
    if (type == kCompression && size == 1) request->compression = value[0];
    at += 2u + size;
  }
  return true;
}

}  // namespace offhook::v42
