// SPDX-License-Identifier: MIT
#include "dsp/audio/pump.h"

#include "dsp/audio/audio_pump.h"

namespace offhook::audio {
namespace {

constexpr oh_pump_type kTypes[] = {
    named<32, oh_fft_radix2>("audio-32"),   named<64, oh_fft_radix2>("audio-64"),
    named<128, oh_fft_radix2>("audio-128"), named<256, oh_fft_radix2>("audio-256"),
    named<512, oh_fft_radix2>("audio-512"), named<1024, oh_fft_radix2>("audio-1024"),
};

}  // namespace
}  // namespace offhook::audio

const oh_pump_type* oh_audio_type(uint32_t partition) {
  return offhook::audio::type_of(offhook::audio::kTypes, partition);
}
