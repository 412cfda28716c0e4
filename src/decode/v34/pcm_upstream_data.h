// SPDX-License-Identifier: MIT
//
// Data upstream of V.92's PCM upstream in a recorded call.
//
// The analogue modem equalises the line, so that levels which CPd defines arrive at the exchange. Anywhere else other
// levels are recorded. B1u, with which data begin, is known symbol by symbol (V.92 8.7.1): an equaliser is fitted to
// it, from the recorded samples to the levels at the exchange. The modem's own reader decodes them.
//
//   samples, network's clock -> equaliser, by B1u -> levels -> dsp/v90/pcm/upstream_reader.h -> bits
#pragma once

#include <span>

#include "dsp/v90/coding/upstream.h"
#include "src/decode/v34/data_mode.h"
#include "src/decode/v34/pcm_upstream.h"

namespace offhook::decode {

/// @param b1u  sample of the first symbol of B1u as the training's channel has it: the data's delay is searched
/// @param to  sample of the end of data  @pre is_usable(cpd)
V34DataHeard read_pcm_upstream_data(const NetworkSamples& samples, const v90::Cpd& cpd, long b1u, long to);

}  // namespace offhook::decode
