// SPDX-License-Identifier: MIT
#include "traces/scenario/host_source.h"

#include <fmt/format.h>

#include <array>

#include "traces/scenario/data.h"

namespace offhook::config {
namespace {

constexpr std::array<std::string_view, 3> kGrades = {"assumed", "published", "measured"};

}  // namespace

std::string_view to_string(HostGrade grade) {
  return kGrades[static_cast<std::size_t>(grade)];
}

std::string in_words(const HostSource& source) {
  if (source.what.empty()) return "no source is given";
  return fmt::format("{}: {}{}{}", to_string(source.grade), source.what,
                     source.where.empty() ? "" : fmt::format(" ({})", source.where),
                     source.assumed.empty() ? "" : fmt::format("; no source for {}", source.assumed));
}

KeyTable host_source_keys() {
  using S = HostSource;
  return {
      key<S>("grade", "grade of the weakest number that decides a verdict",
             [](S& s) -> Field { return choice(s.grade, kGrades); }),
      key<S>("what", "source: document and place in it, command, duration", &S::what),
      key<S>("where", "its address", &S::where),
      key<S>("assumed", "keys whose values are nevertheless assumptions", &S::assumed),
  };
}

HostSource take_host_source(Document& host) {
  HostSource source;
  if (const auto table = host.take_table("source")) table->apply(host_source_keys(), &source);
  return source;
}

HostSource load_host_source(std::string_view host) {
  Document document = Document::read_file(data_file("hosts", host));
  return take_host_source(document);
}

}  // namespace offhook::config
