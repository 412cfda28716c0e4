// SPDX-License-Identifier: MIT
//
// The kernel's scheduling events from any source: a .dat, a live tracefs instance, text.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "hostsim/host/host_load.h"
#include "traces/import/load_builder.h"

struct tep_event;
struct tep_handle;
struct tep_record;

namespace offhook::traces {

struct KernelEvent {
  enum class Type {
    kOther,
    kSwitch,  ///< thread -> next
    kWaking,  ///< thread is made runnable
    kEnter,   ///< interrupt or softirq `kind`, `name`
    kLeave,
    kSoftirqRaise,  ///< name
    kTimerEnter,    ///< an hrtimer's expiry
    kTimerLeave,
  };
  struct Thread {
    std::string name;
    int pid = 0, prio = 0;
  };
  Type type = Type::kOther;
  hostsim::Ns time = 0;  ///< on the trace's clock
  int cpu = 0;
  hostsim::HostLoad::Kind kind = hostsim::HostLoad::Kind::kInterrupt;
  std::string name = {};
  Thread thread = {}, next = {};
};

void add_to(LoadBuilder& builder, const KernelEvent& event);

/// Converts records of libtraceevent to events.
class RecordReader {
 public:
  /// @throws TraceError when the record is shorter than its format
  KernelEvent read(tep_handle* tep, const tep_record& record);

 private:
  struct Format;
  std::map<std::pair<tep_handle*, int>, Format> formats_;
  std::map<int, std::string> irqs_;

 public:
  RecordReader();
  ~RecordReader();
  RecordReader(RecordReader&&) noexcept;
};

}  // namespace offhook::traces
