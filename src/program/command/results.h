// SPDX-License-Identifier: MIT
//
// Tables of the JSON and CSV output of commands, for `offhook help keys`.
#pragma once

#include "driver/base/record.h"

namespace offhook::command {

extern const record::Table kMttf, kMttfCell, kMttfTasks, kMttfTask;
extern const record::Table kMeasureLatency, kMeasureStolen, kMeasureKernel, kMeasureCost, kMeasureDeviceCost,
    kMeasureHost, kMeasureBank, kMeasureBatch, kMeasureCause, kMeasureDevice;
extern const record::Table kKernelCall, kLaw, kLawCheck, kAdmission, kHost, kCardDevice, kTrace, kCardCall, kLine,
    kExport, kReport, kSweepPrinted, kSweepPlanned, kSweepShard, kDemo, kAdvised;
/// A user of the CPU while a thread waited.
extern const record::Table kCulprit;

}  // namespace offhook::command
