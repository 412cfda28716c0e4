// SPDX-License-Identifier: MIT
//
// A bank in lanes: the mapping frames of several encoders, or of several decoders, made at once, each in a lane of the
// same vectors. An encoder's steps from frame to frame depend on each other (precoder, trellis, differential encoder),
// so one encoder fills no vector; sixteen do. Symbol rate, data rate, trellis code and precoder may differ from lane to
// lane, and each call may have other lanes: their state stays in its place and is copied for one frame.
//
// All arithmetic is in integers: each object gets the same bits as from Encoder::frame() and Decoder::frame(). Bits to
// points and back (scrambler, parser, shell mapper, table of points) are done lane by lane.
#pragma once

#include "dsp/blocks/kernels.h"
#include "dsp/v34/coding/encoder.h"

namespace offhook::v34 {

/// Input and output of Encoder::frame(), for one lane.
struct FrameToEncode {
  Encoder* encoder;
  FrameBits primary;
  int aux;
  FixedPoint x[kSymbolsPerMappingFrame];  ///< out: Symbol::x
};

/// Input and output of Decoder::frame(), for one lane.
struct FrameToDecode {
  Decoder* decoder;
  Point y[kSymbolsPerMappingFrame];
  FrameBits primary;  ///< out
  uint8_t aux;        ///< out: written only if gives_aux()
  int bits;           ///< out: of `primary`
};

/// At least as many as any variant has.
inline constexpr int kMostFrameLanes = 16;
/// Fewer than these are done one after the other.
inline constexpr int kLeastFrameLanes = 4;

/// The next frame of each, all of them different objects. @param[in,out] frame  [count] @pre cpu_has(set)
/// Real-time: yes, O(count).
void encode_frames(FrameToEncode* frame, int count, InstructionSet set = best_kernels().set);
void decode_frames(FrameToDecode* frame, int count, InstructionSet set = best_kernels().set);

}  // namespace offhook::v34
