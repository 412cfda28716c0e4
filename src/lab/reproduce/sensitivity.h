// SPDX-License-Identifier: MIT
//
// The dependence of Table 3's classes on each constant: the twelve reservations over a range of each, one constant at a
// time. The same runs give a five-fold cross-validation: each constant is chosen by the rows of four folds, and tested
// on the fifth. The other constants stay as they were fitted with all twelve rows, so the test rows are not completely
// unseen.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/lab/reproduce/claim.h"
#include "src/lab/reproduce/constants.h"

namespace offhook::reproduce {

struct Scan {
  const Constant* constant = nullptr;
  double used = 0;             ///< the model's
  std::vector<double> values;  ///< in ascending order, including the value in use
  /// [row][value]: whether the class is the published one
  std::vector<std::vector<bool>> holds;

  struct Range {
    double low = 0, high = 0;               ///< first and last value, around the one in use, over which it agrees
    bool from_end = false, to_end = false;  ///< true if the scan ended first
    bool any = false;                       ///< at the value in use
  };
  Range range(std::size_t row) const;
  /// The value for which most rows with `counts` agree: the middle of the longest range of such values.
  std::size_t best(const std::function<bool(std::size_t row)>& counts) const;
  /// For 5 folds (row modulo 5), the best value for the rows of the other folds, and how many rows of this fold then
  /// agree. Summed over the folds.
  std::size_t held_out() const;
};

struct Sensitivity {
  std::vector<std::string> rows;  ///< "RES 2/14"
  std::vector<Scan> scans;
};

/// @param run.published jones.table3
/// @param steps number of values of each constant
Sensitivity sensitivity(const Run& run, std::size_t steps);

/// The fitted constants, fitted again with Table 3 only. Each starts in the middle of its range. Then each gets the
/// best of `steps` values, in two rounds. Experiments that use them did not influence them.
struct Calibration {
  struct Constant {
    std::string name, unit;
    double value = 0;  ///< found
    double used = 0;   ///< the model's
  };
  std::vector<Constant> constants;
  std::size_t right = 0, rows = 0;  ///< agreeing classes of Table 3 with them

  /// In the form of --perturb.
  std::vector<std::string> changes() const;
};
/// @param run.published jones.table3
Calibration calibrate(const Run& run, std::size_t steps);
std::string to_text(const Calibration& calibration);

/// kSensitivity has rows, ranges, and a figure for each constant, drawn like those of the claims.
extern const record::Table kCalibration, kSensitivity;
/// One line per constant: the range in which each class agrees.
std::string to_text(const Sensitivity& sensitivity);

}  // namespace offhook::reproduce
