// SPDX-License-Identifier: MIT
//
// The convolver on FFTW: the same signal as on our own transform, within 1e-6 of its RMS (-120 dB; 16-bit samples round
// at -98 dB).
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "dsp/audio/convolver.h"
#include "tests/unit/dsp/audio/audio_signal.h"

namespace offhook::audio {
namespace {

TEST(AudioConvolver, FftwAsTheBackEndDiffersByLessThan120Db) {
  for (int partition = Convolver::kLeast; partition <= Convolver::kMost; partition *= 2) {
    const auto taps = test::noise(Convolver::kMostTaps, 1, 1), x = test::noise(24 * 1024, 2, 1);
    const auto own = std::make_unique<Convolver>(partition, taps.data(), Convolver::kMostTaps),
               fftw = std::make_unique<Convolver>(partition, taps.data(), Convolver::kMostTaps, *oh_fft_fftw());
    const auto y = test::run(*own, x), by_fftw = test::run(*fftw, x);
    EXPECT_LT(test::difference(y, {by_fftw.begin(), by_fftw.end()}), 1e-6) << partition;
    EXPECT_NE(y, by_fftw) << "the same bytes: the back end was not used";
  }
}

}  // namespace
}  // namespace offhook::audio
