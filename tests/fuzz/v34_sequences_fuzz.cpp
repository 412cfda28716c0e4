// SPDX-License-Identifier: MIT
//
// INFO, MP, MPh, Jd, DIL, CP, QC and MH parsers of V.34, V.90 and V.92 on arbitrary bits: what is accepted must encode
// to bits that read the same, and a receiver fed with that encoding must find it.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/v34/half_duplex/mph.h"
#include "dsp/v34/phase2/info.h"
#include "dsp/v34/session/mp.h"
#include "dsp/v90/coding/cp.h"
#include "dsp/v90/coding/data_frame.h"
#include "dsp/v90/coding/hold_sequence.h"
#include "dsp/v90/coding/quick_connect.h"
#include "dsp/v90/coding/sequences.h"

using namespace offhook::v34;
using offhook::Crc;

namespace {

// Bits of the input. With `repair`, frame sync and CRC are corrected so that fields pass the checks.
template <class T>
void check_info(const uint8_t* data, size_t size, bool repair) {
  uint8_t bits[T::kBits]{};
  for (size_t k = 0; k < T::kBits && k / 8 < size; ++k) bits[k] = data[k / 8] >> (k % 8) & 1;
  if (repair) {
    for (int k = 0; k < 8; ++k) bits[4 + k] = InfoReceiver<T>::kSync >> (7 - k) & 1;
    Crc crc;
    for (int k = 12; k < T::kBits - 20; ++k) crc.put(bits[k]);
    for (int k = 0; k < 16; ++k) bits[T::kBits - 20 + k] = crc.value() >> k & 1;
  }
  T info{};
  if (!decode(bits, &info)) return;
  uint8_t again[T::kBits];
  encode(info, again);
  T info2{};
  if (!decode(again, &info2) || !(info == info2)) abort();
  InfoReceiver<T> receiver;
  int found = 0;
  for (const uint8_t b : again) found += receiver.put(b, &info2);
  if (found != 1 || !(info == info2)) abort();
}

// Frame sync, start bits and CRC of MP and CP.
void repair_frame(uint8_t* bits, int crc_at) {
  memset(bits, 1, 17);
  Crc crc;
  for (int k = 17; k < crc_at; ++k) {
    if (k % 17 == 0) {
      bits[k] = 0;
    } else {
      crc.put(bits[k]);
    }
  }
  for (int k = 0; k < 16; ++k) bits[crc_at + k] = crc.value() >> k & 1;
}

// Mp or Mph.
template <class T>
void check_mp(const uint8_t* data, size_t size, bool repair) {
  uint8_t bits[T::kBitsType1]{};
  for (size_t k = 0; k < sizeof bits && k / 8 < size; ++k) bits[k] = data[k / 8] >> (k % 8) & 1;
  if (repair) {
    const int crc_at = bits[18] ? 171 : 69;
    repair_frame(bits, crc_at);
  }
  T mp;
  if (!decode(bits, &mp)) return;
  uint8_t again[T::kBitsType1];
  const int n = encode(mp, again);
  SequenceReceiver<T> receiver;
  int found = 0;
  T mp2;
  for (int k = 0; k < n; ++k) found += receiver.put(again[k], &mp2);
  uint8_t third[T::kBitsType1];
  if (found != 1 || encode(mp2, third) != n || memcmp(again, third, static_cast<size_t>(n)) != 0) abort();
}

// For a CP that can be sent, with any filter and points, the bits of frames are recovered.
void check_frames(const offhook::v90::Cp& cp, const uint8_t* data, size_t size) {
  using namespace offhook::v90;
  FrameParameters p;
  if (!frame_parameters(cp, cp.a_law ? Law::kA : Law::kMu, &p)) return;
  constexpr int kFrames = 6;
  uint8_t sent[kFrames][FrameParameters::kMaxBits]{};
  for (int k = 0; k < kFrames * p.bits() && static_cast<size_t>(k / 8) < size; ++k) {
    sent[k / p.bits()][k % p.bits()] = data[k / 8] >> (k % 8) & 1;
  }
  FrameEncoder encoder(p);
  FrameDecoder decoder(p);
  int put = 0;
  for (int frame = 0; frame < kFrames; ++frame) {
    while (encoder.wants_frame()) {
      if (put < kFrames) {
        encoder.put(sent[put++]);
      } else {
        encoder.end();
      }
    }
    Pcm codes[kFrameIntervals];
    encoder.next(codes);
    uint8_t signs[kFrameIntervals], labels[kFrameIntervals]{}, bits[FrameParameters::kMaxBits]{};
    for (int i = 0; i < kFrameIntervals; ++i) {
      signs[i] = codes[i].positive;
      while (p.points.ucode[i][labels[i]] != codes[i].ucode) {
        if (++labels[i] >= p.points.count[i]) abort();
      }
    }
    decoder.put(signs, labels, bits);
    if (frame >= 2 && memcmp(bits, sent[frame], static_cast<size_t>(p.bits())) != 0) abort();
  }
}

void check_cp(const uint8_t* data, size_t size, bool repair) {
  using offhook::v90::Cp;
  uint8_t bits[Cp::kMaxBits]{};
  for (size_t k = 0; k < sizeof bits && k / 8 < size; ++k) bits[k] = data[k / 8] >> (k % 8) & 1;
  if (repair) {
    int most = 0;
    constexpr int kInterval[] = {103, 107, 111, 115, 120, 124};
    for (const int at : kInterval) {
      bits[at + 3] = 0;
      bits[at + 1] &= static_cast<uint8_t>(!bits[at + 2]);
      const int index = bits[at] + 2 * bits[at + 1] + 4 * bits[at + 2];
      most = index > most ? index : most;
    }
    const int crc_at = 137 + 136 * (most + 1) * (bits[128] ? 2 : 1);
    repair_frame(bits, crc_at);
  }
  Cp cp;
  if (!decode(bits, sizeof bits, &cp)) return;
  uint8_t again[Cp::kMaxBits];
  const int n = encode(cp, again);
  if (n != cp.bits()) abort();
  offhook::v90::CpReceiver receiver;
  int found = 0;
  Cp cp2;
  for (int k = 0; k < n; ++k) found += receiver.put(again[k], &cp2);
  if (found != 1 || !(cp == cp2)) abort();
  check_frames(cp, data, size);
}

void check_dil(const uint8_t* data, size_t size, bool repair) {
  using offhook::v90::Dil;
  uint8_t bits[Dil::kMaxBits]{};
  for (size_t k = 0; k < sizeof bits && k / 8 < size; ++k) bits[k] = data[k / 8] >> (k % 8) & 1;
  if (repair) {
    const auto number = [&bits](int at, int n) {
      int v = 0;
      for (int k = 0; k < n; ++k) v |= bits[at + k] << k;
      return v;
    };
    const int segments = number(18, 8);
    const int sign = segments == 0 ? 0 : number(35, 7), training = segments == 0 ? 0 : number(43, 7);
    repair_frame(bits, 17 * (1 + 2 + sign / 16 + 1 + training / 16 + 1 + 8 + (segments + 1) / 2) + 1);
  }
  Dil dil;
  if (!offhook::v90::decode(bits, sizeof bits, &dil)) return;
  for (int n = 0; n < dil.segments; ++n) {
    for (int k = 0; k < dil.symbols(n); ++k) {
      if (dil.symbol(n, k).ucode >= offhook::v90::kUcodes) abort();
    }
  }
  uint8_t again[Dil::kMaxBits];
  const int n = offhook::v90::encode(dil, again);
  if (n != dil.bits()) abort();
  offhook::v90::DilReceiver receiver;
  int found = 0;
  Dil dil2;
  for (int k = 0; k < n; ++k) found += receiver.put(again[k], &dil2);
  // Without segments, the lengths and patterns have no meaning.
  if (found != 1 || (dil.segments > 0 && !(dil == dil2))) abort();
}

void check_jd(const uint8_t* data, size_t size, bool repair) {
  using offhook::v90::Jd;
  uint8_t bits[Jd::kBits]{};
  for (size_t k = 0; k < sizeof bits && k / 8 < size; ++k) bits[k] = data[k / 8] >> (k % 8) & 1;
  if (repair) repair_frame(bits, 52);
  Jd jd;
  if (!offhook::v90::decode(bits, &jd)) return;
  uint8_t again[Jd::kBits];
  offhook::v90::encode(jd, again);
  offhook::v90::FixedSequenceReceiver<offhook::v90::Jd> receiver;
  int found = 0;
  Jd jd2;
  for (const uint8_t b : again) found += receiver.put(b, &jd2);
  if (found != 1 || !(jd == jd2)) abort();
}

void check_qc(const uint8_t* data, size_t size) {
  using namespace offhook::v90;
  QuickConnect qc{}, again{};
  if (size > 0 && decode_qc1(data[0], &qc) && encode_qc1(qc) != data[0]) abort();
  if (!decode_qc2(data, static_cast<int>(size), &qc)) return;
  uint8_t octets[2];
  encode_qc2(qc, data[0] >> 4, octets);
  if (!decode_qc2(octets, 2, &again) || !(qc == again)) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool repair = data[0] & 1;
  ++data;
  --size;
  check_info<Info0>(data, size, repair);
  check_info<Info0d>(data, size, repair);
  check_info<Info1c>(data, size, repair);
  check_info<Info1a>(data, size, repair);
  check_info<Info1aV90>(data, size, repair);
  check_info<offhook::v90::HoldMessage>(data, size, repair);
  check_info<InfoH>(data, size, repair);
  check_mp<Mp>(data, size, repair);
  check_mp<Mph>(data, size, repair);
  check_cp(data, size, repair);
  check_dil(data, size, repair);
  check_jd(data, size, repair);
  check_qc(data, size);
  MpReceiver mp_receiver;
  offhook::v90::CpReceiver cp_receiver;
  offhook::v90::DilReceiver dil_receiver;
  offhook::v90::MpReceiver digital_mp_receiver;
  InfoReceiver<Info1c> info_receiver;
  for (size_t k = 0; k < 8 * size; ++k) {
    Mp mp;
    Info1c info;
    offhook::v90::Cp cp;
    offhook::v90::Dil dil;
    offhook::v90::Mp digital_mp;
    dil_receiver.put(data[k / 8] >> (k % 8) & 1, &dil);
    digital_mp_receiver.put(data[k / 8] >> (k % 8) & 1, &digital_mp);
    cp_receiver.put(data[k / 8] >> (k % 8) & 1, &cp);
    mp_receiver.put(data[k / 8] >> (k % 8) & 1, &mp);
    info_receiver.put(data[k / 8] >> (k % 8) & 1, &info);
  }
  return 0;
}
