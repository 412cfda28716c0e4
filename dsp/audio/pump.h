/* SPDX-License-Identifier: MIT
 *
 * Soft audio as a pump: the sound of a room, by convolution with its response, and an equaliser; one channel at 48 000
 * or 96 000 Hz. The calling end is the device. It convolves, equalises and delays (by one partition) its input, and
 * sends the result. The answering end is a player: it sends noise and measures the received signal.
 *
 *     received ──> partition of B samples ──> convolution, 8192 taps ──> 10 bands ──> rounded, sent B samples later
 *
 * One type for each length B of a partition. The output does not depend on how the samples are cut into blocks. The
 * work of a partition is done at once, in the call that completes it, so a block of B samples is the natural one.
 *
 * There are no bits: the state is OH_PUMP_DATA from init on, and the port is not used. Lost samples are silence.
 * tx_level_dbm0 and max_bit_rate have no meaning.
 */
#ifndef OFFHOOK_DSP_AUDIO_PUMP_H
#define OFFHOOK_DSP_AUDIO_PUMP_H

#include "offhook/pump.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The pump "audio-B". @param partition  B: 32, 64, ... 1024 samples  @return NULL for any other */
const struct oh_pump_type* oh_audio_type(uint32_t partition);
/** The pump "audio-B-fftw": the same with FFTW's transforms, in a program that has dsp/fftw. Its output may differ by
 * rounding: FFTW chooses its algorithm by the machine. Its init and release allocate. */
const struct oh_pump_type* oh_audio_fftw_type(uint32_t partition);

#ifdef __cplusplus
}
#endif
#endif
