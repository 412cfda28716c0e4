// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "driver/context/name_table.h"
#include "hostsim/host/context.h"

// The function of each context. To add a context, write a file with a function that creates it, and add a row here: the
// function, then its ContextForm, for example ROW(make_polled_context, "POLL", "polled", ContextArgument::kNone, 0, 0,
// "", "asks the card at each clock interrupt"). For a context in the grammar (driver/context), the word is sufficient.
#define OFFHOOK_CONTEXTS(ROW)            \
  ROW(make_interrupt_context, "INT")     \
  ROW(make_threaded_context, "THREADED") \
  ROW(make_deferred_context, "DPC")      \
  ROW(make_deferred_context, "SOFTIRQ")  \
  ROW(make_thread_context, "THR")        \
  ROW(make_thread_context, "FIFO")       \
  ROW(make_thread_context, "RR")         \
  ROW(make_thread_context, "WORKER")     \
  ROW(make_thread_context, "OTHER")      \
  ROW(make_thread_context, "RES")

namespace offhook::hostsim {

#define DECLARE(make, ...) std::unique_ptr<Context> make(const ContextParts&);
OFFHOOK_CONTEXTS(DECLARE)
#undef DECLARE

namespace {

void add(NameTable<ContextFactory>& table, const ContextForm& form, ContextFactory make) {
  if (find_context_form(form.word) < 0) (void)add_context_form(form);
  table.add(form.word, std::move(make));
}

NameTable<ContextFactory>& contexts() {
  static NameTable<ContextFactory> all;
  static const bool filled = [] {
#define ADD(make, ...) add(all, ContextForm{__VA_ARGS__}, make);
    OFFHOOK_CONTEXTS(ADD)
#undef ADD
    return true;
  }();
  (void)filled;
  return all;
}

// Before anything is read, because a row's word belongs to the grammar.
[[maybe_unused]] const NameTable<ContextFactory>& filled_at_start = contexts();

}  // namespace

std::unique_ptr<Context> make_context(const ContextParts& parts) {
  const std::string& word = context_form(parts.spec.kind).word;
  const int row = contexts().find(word);
  if (row < 0) throw std::invalid_argument(word + ": no simulated host has such a context");
  return contexts()[row](parts);
}

void register_context(const ContextForm& form, ContextFactory make) {
  add(contexts(), form, std::move(make));
}

}  // namespace offhook::hostsim
