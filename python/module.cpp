// SPDX-License-Identifier: MIT
//
// offhook._offhook: bare task systems (offhook schedule) and the whole program, with scheduling policies written in
// Python. What else the Python package does, it asks of the program (python/offhook/__init__.py).
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "hostsim/sched/scheduler.h"
#include "offhook/program.h"
#include "src/lab/schedule/schedule.h"

namespace py = pybind11;
namespace hostsim = offhook::hostsim;
using hostsim::Ns;

namespace {

/// A Python object as the policy of one thread. Missing methods do nothing. Called with or without the interpreter's
/// lock. @throws py::error_already_set the object's exception, and ValueError for an endless loop
class PythonPolicy final : public hostsim::ThreadPolicy {
 public:
  explicit PythonPolicy(py::object object) : object_(std::move(object)) {}
  ~PythonPolicy() override {
    const py::gil_scoped_acquire lock;
    object_ = py::object();
  }
  PythonPolicy(const PythonPolicy&) = delete;
  PythonPolicy& operator=(const PythonPolicy&) = delete;

  void begin_job(Ns now, const hostsim::CurrentJob& job, bool woken) override {
    call("begin_job", now, job.release, time_or_none(job.deadline), woken);
  }
  void sleep(Ns now) override { call("sleep", now); }
  void charge(Ns ran) override { call("charge", ran); }
  void stopped() override { call("stopped"); }
  hostsim::Change update(Ns now) override { return {.requeue = truth("update", now)}; }
  hostsim::Standing standing(Ns now) const override {
    const py::gil_scoped_acquire lock;
    return {hostsim::Band::kPriority, object_.attr("standing")(now).cast<Ns>()};
  }
  Ns allowance() const override {
    const py::gil_scoped_acquire lock;
    const Ns ns = time("allowance");
    if (ns <= 0) throw py::value_error("allowance() of a policy is not positive; expected ns until its next update()");
    return ns;
  }
  Ns next_change(Ns now) const override {
    const py::gil_scoped_acquire lock;
    const Ns at = time("next_change", now);
    if (at <= now)
      throw py::value_error("next_change(now) of a policy is not after now; expected a later time, or None");
    return at;
  }

 private:
  static py::object time_or_none(Ns ns) { return ns == hostsim::kNever ? py::object(py::none()) : py::int_(ns); }
  template <typename... A>
  void call(const char* name, A... arguments) {
    const py::gil_scoped_acquire lock;
    if (py::hasattr(object_, name)) object_.attr(name)(arguments...);
  }
  template <typename... A>
  bool truth(const char* name, A... arguments) {
    const py::gil_scoped_acquire lock;
    return py::hasattr(object_, name) && py::bool_(object_.attr(name)(arguments...));
  }
  template <typename... A>
  Ns time(const char* name, A... arguments) const {
    if (!py::hasattr(object_, name)) return hostsim::kNever;
    const py::object said = object_.attr(name)(arguments...);
    return said.is_none() ? hostsim::kNever : said.cast<Ns>();
  }

  py::object object_;
};

/// Makes one policy object a thread's policy. The name is looked up when the thread is created.
class PythonScheduler final : public hostsim::Scheduler {
 public:
  explicit PythonScheduler(std::string name) : name_(std::move(name)) {}
  bool has(hostsim::ThreadRequest::Class) const override { return true; }
  hostsim::Policy thread(const hostsim::ThreadRequest& request) override {
    return hostsim::OwnPolicy([name = name_, priority = request.priority]() -> std::unique_ptr<hostsim::ThreadPolicy> {
      const py::gil_scoped_acquire lock;
      return std::make_unique<PythonPolicy>(factories()[py::str(name)](priority));
    });
  }
  static py::dict factories() { return py::module_::import("offhook").attr("_policies").cast<py::dict>(); }

 private:
  std::string name_;
};

void register_policy(const std::string& name) {
  hostsim::register_policy(name,
                           [name](const hostsim::SchedulerHost&) { return std::make_unique<PythonScheduler>(name); });
}

py::tuple schedule(const std::string& system, const std::string& name) {
  std::ostringstream csv;
  std::string summary;
  {
    const py::gil_scoped_release unlocked;
    summary = offhook::schedule::summary_json(
        offhook::schedule::run_schedule(offhook::schedule::parse_system(system, name), csv));
  }
  return py::make_tuple(csv.str(), summary);
}

int run_program(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv = {"offhook"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  const py::gil_scoped_release unlocked;
  return offhook::run_program(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

PYBIND11_MODULE(_offhook, module) {
  module.attr("__version__") = OFFHOOK_VERSION;
  module.doc() = "The part of offhook that is C++; use the package offhook.";
  py::register_exception<offhook::schedule::SystemError>(module, "SystemError", PyExc_ValueError);
  module.def("register_policy", &register_policy, py::arg("name"));
  module.def("schedule", &schedule, py::arg("system"), py::arg("name"), "@return (events as CSV, summary as JSON)");
  module.def("run_program", &run_program, py::arg("arguments"), "@return the exit status");
}
