// SPDX-License-Identifier: MIT
#include "dsp/audio/audio_pump.h"

namespace offhook::audio {
namespace {

constexpr oh_pump_type kTypes[] = {
    named<32, oh_fft_fftw>("audio-32-fftw"),   named<64, oh_fft_fftw>("audio-64-fftw"),
    named<128, oh_fft_fftw>("audio-128-fftw"), named<256, oh_fft_fftw>("audio-256-fftw"),
    named<512, oh_fft_fftw>("audio-512-fftw"), named<1024, oh_fft_fftw>("audio-1024-fftw"),
};

}  // namespace
}  // namespace offhook::audio

const oh_pump_type* oh_audio_fftw_type(uint32_t partition) {
  return offhook::audio::type_of(offhook::audio::kTypes, partition);
}
