// SPDX-License-Identifier: MIT
#include "dsp/dmt/frame.h"

#include "dsp/blocks/renew.h"

namespace offhook::dmt {
namespace {

// Frames that carry indicator bits 0-7, 8-15, 16-23.
constexpr int kIndicatorFrames[] = {1, 34, 35};

}  // namespace

void TransmitPath::reset(const PathParameters& p) {
  p_ = p;
  renew(code_, p.check);
  interleaver_.reset(Interleaver::Way::kInterleave, p.word(), p.depth);
  scrambler_.reset();
  crc_.reset();
  frame_ = in_word_ = 0;
  check_ = {};
}

void TransmitPath::process(const uint8_t* payload, uint32_t indicators, const uint8_t* operation, uint8_t* out) {
  const int place = operation_octet(frame_);
  uint8_t overhead = place >= 0 ? operation[place] : uint8_t{0};
  if (frame_ == 0) {
    overhead = crc_.value();
    crc_.reset();
  } else {
    for (int k = 0; k < 3; ++k) {
      if (frame_ == kIndicatorFrames[k]) overhead = static_cast<uint8_t>(indicators >> 8 * k);
    }
    crc_.put(overhead);
  }
  const int octets = p_.octets();
  for (int k = 0; k < octets; ++k) out[k] = interleaver_.get();
  put(scrambler_.scramble(overhead));
  for (int k = 0; k < p_.payload; ++k) {
    crc_.put(payload[k]);
    put(scrambler_.scramble(payload[k]));
  }
  if (++frame_ == kFrames) frame_ = 0;
  if (++in_word_ < p_.frames_per_word) return;
  in_word_ = 0;
  for (int k = 0; k < p_.check; ++k) interleaver_.put(check_.at(k));
  check_ = {};
}

void TransmitPath::put(uint8_t octet) {
  code_.put(octet, &check_);
  interleaver_.put(octet);
}

void ReceivePath::reset(const PathParameters& p) {
  p_ = p;
  renew(code_, p.check);
  interleaver_.reset(Interleaver::Way::kDeinterleave, p.word(), p.depth);
  descrambler_.reset();
  crc_.reset();
  frame_ = in_word_ = 0;
  // The word that the transmitter begins with, those of the interleavers, and as many that have not arrived.
  skip_ = 1 + interleaver_.delay() + kWords;
  first_ = true;
  corrected_ = lost_ = 0;
}

bool ReceivePath::process(const uint8_t* in, Frame* frame) {
  const int s = p_.frames_per_word, search = search_symbols();
  const auto word = [this](int age) { return &words_[(newest_ + age) % kWords]; };
  // Octets read from the deinterleaver make room for new ones.
  read(word(0), in_word_);
  for (int k = 0; k < p_.octets(); ++k) interleaver_.put(in[k]);
  if (in_word_ < search) correct(word(1), in_word_);
  // The frames of a word are returned after its correction, the last one after the correction of the next word.
  const bool is_next = in_word_ >= search;
  const int age = is_next ? 1 : 2;
  const bool ready = skip_ + age < kWords;
  if (ready) *frame = give(word(age), is_next ? in_word_ - search : in_word_ - search + s);
  if (++in_word_ == s) {
    in_word_ = 0;
    if (skip_ > 0) --skip_;
    newest_ = (newest_ + kWords - 1) % kWords;
  }
  return ready;
}

/// The part of a word that leaves the deinterleaver in one symbol.
void ReceivePath::read(Word* word, int symbol) {
  const int n = p_.octets(), from = symbol * n, data = p_.word_data();
  if (symbol == 0) word->check = {};
  for (int k = from; k < from + n; ++k) {
    word->octets[k] = interleaver_.get();
    if (k < data) code_.put(word->octets[k], &word->check);
  }
}

void ReceivePath::correct(Word* word, int symbol) {
  if (p_.check == 0 || skip_ + 1 >= kWords) return;
  const int n = p_.word(), symbols = search_symbols();
  if (symbol == 0) word->correction.begin(code_, word->check, word->octets + p_.word_data(), n);
  // The first step costs as much as the search, so the search runs in the other symbols, if there are any.
  const int pieces = symbols > 1 ? symbols - 1 : 1;
  if (symbols == 1 || symbol > 0) word->correction.search((n + pieces - 1) / pieces);
  if (symbol + 1 < symbols) return;
  const int corrected = word->correction.apply(word->octets);
  if (corrected < 0) {
    ++lost_;
  } else {
    corrected_ += static_cast<uint32_t>(corrected);
  }
}

ReceivePath::Frame ReceivePath::give(Word* word, int symbol) {
  uint8_t* octets = word->octets + symbol * (p_.payload + 1);
  for (int k = 0; k <= p_.payload; ++k) octets[k] = descrambler_.descramble(octets[k]);
  Frame f{octets + 1, false, false, false, 0, operation_octet(frame_), octets[0]};
  if (frame_ == 0) {
    f.superframe_ended = !first_;
    f.crc_good = octets[0] == crc_.value();
    first_ = false;
    crc_.reset();
  } else {
    crc_.put(octets[0]);
    for (int n = 0; n < 3; ++n) {
      if (frame_ != kIndicatorFrames[n]) continue;
      indicators_ = (indicators_ & ~(0xffu << 8 * n)) | static_cast<uint32_t>(octets[0]) << 8 * n;
      f.indicators_known = n == 2;
    }
    f.indicators = indicators_;
  }
  for (int n = 0; n < p_.payload; ++n) crc_.put(f.payload[n]);
  if (++frame_ == kFrames) frame_ = 0;
  return f;
}

}  // namespace offhook::dmt
