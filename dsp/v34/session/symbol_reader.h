// SPDX-License-Identifier: MIT
//
// The layer between a receiver of symbols (dsp/qam/receiver.h) and the procedure of Phases 3 and 4 (session.h): it
// reads the far end's training signals and data from equalised symbols. Once per symbol it passes its report (Heard) to
// the procedure, which returns commands to the receiver (ReceiverOrder).
#pragma once

#include <stdint.h>

#include "dsp/blocks/complex.h"
#include "dsp/qam/receiver.h"
#include "dsp/v34/session/data_mode.h"
#include "dsp/v34/session/receive_signals.h"
#include "dsp/v34/session/transmit_signals.h"

namespace offhook::v34 {

/// The procedure's commands to the receiver.
struct ReceiverOrder {
  enum class Listen : uint8_t { kNothing, kTraining, kData };

  qam::Receiver::Task task = qam::Receiver::Task::kHold;
  Listen listen = Listen::kNothing;
  bool deliver = false;  ///< whether received bits go to the user
  uint32_t version = 0;  ///< incremented whenever a later member has changed: SymbolReader::init()
  int next = 0;          ///< kTraining: the next symbol, counted from the first of S-bar
  bool pp = false;       ///< PP follows S-bar
  TrainingPoints points = TrainingPoints::k4;  ///< of TRN and the later signals
  int known_trn = 0;                           ///< number of symbols of TRN that certainly arrive
  DataParameters data{};                       ///< kData
  qam::SymbolFormat format;                    ///< of either
  float grid_energy = 2;                       ///< mean |x|^2 of the points, before a non-linear encoder
};

/// The receiver's own measurement of the line, if it is better than the errors of training.
struct LineQuality {
  double snr = 0;                   ///< mean |x|^2 over mean |noise|^2 after the whitening filter; 0: unknown
  PrecoderCoefficients precoder{};  ///< the whitening filter; zero: none requested
};

/// The report about one symbol, or about S and S-bar.
struct Heard {
  /// Results of TRN and later signals so far.
  struct Training {
    ReceiveSignals::Found found = ReceiveSignals::Found::kNone;  ///< with this symbol
    TrainingPoints wanted_points = TrainingPoints::k4;           ///< kJ: its request
    const Mp* mp = nullptr;                                      ///< kMp
    int symbols = 0;
    float error = 1;       ///< ReceiveSignals::error()
    bool settled = false;  ///< ReceiveSignals::settled()
  };
  qam::Receiver::Event event = qam::Receiver::Event::kNone;
  int s_bar_age = 0;        ///< kSBar: symbols of S-bar that have passed
  int symbols_skipped = 0;  ///< kSBar: the next symbol, counted from the first of S-bar
  bool symbol = false;      ///< a symbol arrived, and the following members describe it
  bool uncertain = false;   ///< it depends on lost samples, or the receiver had lost the grid
  float power = 0;          ///< mean square of the line without echo, over about 64 ms; 0: unknown
  Training training;
  const DataReceiver* data = nullptr;    ///< null during training
  const LineQuality* quality = nullptr;  ///< null: unchanged
};

class SymbolReader {
 public:
  SymbolReader() = default;
  /// @param role  of this end
  SymbolReader(oh_pump_role role, const DataPort& port) : training_(scrambling_of(far_role(role))), port_(port) {}

  /// The version of the commands has changed.  Not strictly real-time at the beginning of data: DataReceiver.
  void init(const ReceiverOrder& order);
  /// The most likely transmitted point of the next symbol. Call it once for each symbol. `y` is in units in which the
  /// symbols have the power of the commanded format.  Real-time: yes.
  Complex decide(Complex y) { return in_data_ ? data_.decide(y) : training_.decide(y); }
  /// Processes the symbol. @param deliver  received bits go to the port  @param[out] heard  symbol, found, training and
  /// data  @pre decide(y) was called for it.  Real-time: yes.
  void put(Complex y, bool deliver, Heard* heard);

  /// The memory that decide() and put() use in data mode.
  void add_to(HotLines* hot) const {
    hot->add_up_to(&in_data_, &data_);
    data_.add_to(hot);
  }

  const ReceiveSignals& training() const { return training_; }
  const DataReceiver& data() const { return data_; }

 private:
  ReceiveSignals training_;
  bool in_data_ = false;
  DataPort port_{};
  DataReceiver data_;
};

}  // namespace offhook::v34
