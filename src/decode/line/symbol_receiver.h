// SPDX-License-Identifier: MIT
//
// A receiver of V.34's symbols for recorded calls. A modem must decide at once; this receiver may look ahead and fit
// twice. From known symbols (PP, TRN) it computes the equaliser by least squares. From then on it follows clock,
// carrier and line by its decisions.
//
// The other direction's channel, if recorded, is a second input with separate taps, which cancels the echo.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "src/decode/line/baseband.h"

namespace offhook::decode {

/// A receiver's state at one moment; copy it to come back later.
struct ReceiverState {
  double t = 0;           ///< of the next symbol, in samples
  double step = 0;        ///< samples per symbol
  double phase = 0;       ///< of the carrier, radians: the equaliser's output is turned back by it
  double turn = 0;        ///< radians a symbol
  std::vector<Cf> w;      ///< equaliser, T/2 apart, the middle one at the symbol; kTaps or as many as one likes
  std::vector<Cf> v;      ///< echo: T/2 apart
  double echo_delay = 0;  ///< of the middle echo tap, in samples
  double error = 0;       ///< mean square of the errors, relative to the mean square of the decisions
  double power = 1;       ///< mean square of the decisions
  float energy = 0;       ///< mean energy in the equaliser's taps, while it learns
};

class SymbolReceiver {
 public:
  /// @param line  @param other  the other direction's channel in the band of this one, or null
  /// @param slope_hz  the clock loop's idea of the band: the signal changes like a tone of this frequency
  SymbolReceiver(const Baseband& line, const Baseband* other, double symbol_rate_hz, double slope_hz = 1000);

  static constexpr int kTaps = 80;       ///< of the equaliser
  static constexpr int kManyTaps = 160;  ///< for lines whose band edges come many milliseconds late

  ReceiverState state;
  double expected_step;  ///< samples per symbol: start of a fit, and its result for few symbols; nominal at first

  /// Multiplies the output by `gain`.
  void scale(float gain);

  /// Fit equaliser, echo taps, carrier and clock to known symbols. @param t  of the first, in samples, within a symbol
  /// or so  @param known  the symbols  @param offset_hz  of the carrier, if known to half a hertz; else up to
  /// 8 Hz of it are searched
  /// @pre state.w has its final number of taps.
  /// With another channel, searches the residual for its echo, and if there is one includes it in the fit.
  /// Leaves the state before symbol 0.  @return mean square error relative to the symbols'
  double fit(double t, const std::vector<Cf>& known, std::optional<double> offset_hz = {});

  /// Keep the equaliser, clock rate and carrier offset of `state`, and find symbol time, phase and gain again from
  /// known symbols. @param t  of the first, in samples, within a symbol or so. Leaves the state before symbol 0.
  /// @return share of the energy that they explain
  double lock(double t, const std::vector<Cf>& known);

  /// A decided symbol: its time, the carrier's phase then, and the decision's error.
  struct Decided {
    double t = 0, phase = 0;
    Cf error;
  };
  /// Fits the echo taps again, from errors in which the other direction's echo is: the path changes in mid-call, and
  /// may not have been there in the training.
  /// @param symbols  some hundred in a row  @return the share of the errors' energy that an echo explains; with less
  /// than chance gives nothing is changed
  double learn_echo(std::span<const Decided> symbols);

  /// The equaliser's output at the next symbol. Call decided() afterwards.
  Cf equalise();
  /// Adapt to the decided symbol, and go to the next. @param rate  of equaliser adaptation, 0 to freeze
  void decided(Cf symbol, float rate);
  /// Adapt loops and equaliser to an error given in the units of the output.
  void adapt(Cf error, Cf symbol, float rate);

 private:
  static constexpr int kEchoTaps = 64;
  static constexpr int kEchoMiddle = kEchoTaps / 2;
  void gather(double t);
  double search_offset(double t, const std::vector<Cf>& known);
  // Least squares: what the inputs of each symbol are, and their correlations, the lower half by rows.
  struct Equations {
    std::vector<Cf> inputs;
    std::vector<double> re, im;
    void correlate(std::span<const Cf> own, std::span<const Cf> other, std::size_t taps);
  };
  Equations equations(double t, std::size_t symbols) const;
  double solve(const Equations& e, const std::vector<Cf>& known);
  double solve(double t, const std::vector<Cf>& known);
  void find_echo(double t, const std::vector<Cf>& known);

  const Baseband& line_;
  const Baseband* other_;
  double nominal_step_;
  double slope2_;                                  // squared slope of a signal of power 1, per sample
  std::vector<Cf> z_, dz_, u_;                     // the inputs of the newest symbol
  double gathered_t_ = -1e9, gathered_delay_ = 0;  // its time, and its echo's delay
  Cf y_{}, dy_{};                                  // its output, turned back, and the derivative by samples
};

}  // namespace offhook::decode
