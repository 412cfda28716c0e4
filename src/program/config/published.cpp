// SPDX-License-Identifier: MIT
#include "src/program/config/published.h"

#include <array>

#include "traces/document/data.h"
#include "traces/document/document.h"

namespace offhook::config {
namespace {

constexpr std::array<std::string_view, 3> kClasses = {"sufficient", "marginal", "insufficient"};
static_assert(static_cast<int>(Verdict::kMarginal) == 1 && static_cast<int>(Verdict::kInsufficient) == 2);

/// What the rows of all tables have in common.
template <typename Row>
KeyTable row_keys() {
  return {
      key<Row>("class", "", [](Row& r) -> Field { return choice(r.verdict, kClasses); }),
      key<Row>("mean_s", 0, 1e6, "", [](Row& r) -> Field { return &r.mean_s; }),
      key<Row>("min_s", 0, 1e6, "", [](Row& r) -> Field { return &r.min_s; }),
      key<Row>("max_s", 0, 1e6, "", [](Row& r) -> Field { return &r.max_s; }),
      key<Row>("ok", 0, 1000, "", [](Row& r) -> Field { return &r.ok; }),
      key<Row>("of", 0, 1000, "", [](Row& r) -> Field { return &r.of; }),
  };
}

}  // namespace

Published load_published() {
  Published out;
  Document document = Document::read_file(data_file("published", "jones"));

  KeyTable keys = row_keys<PublishedContext>();
  keys.push_back(key<PublishedContext>("context", "", [](PublishedContext& c) -> Field { return &c.context; }));
  keys.push_back(key<PublishedContext>("spinner", "", [](PublishedContext& c) -> Field { return &c.spinner; }));
  keys.push_back(key<PublishedContext>("note", "", [](PublishedContext& c) -> Field { return &c.note; }));
  keys.push_back(key<PublishedContext>("pending_max_samples", 0, 512, "",
                                       [](PublishedContext& c) -> Field { return &c.pending_max_samples; }));
  for (const Document& row : document.take_rows("context")) row.apply(keys, &out.contexts.emplace_back());

  keys = row_keys<PublishedReservation>();
  keys.push_back(
      key<PublishedReservation>("x_ms", 1, 1000, "", [](PublishedReservation& r) -> Field { return &r.x_ms; }));
  keys.push_back(
      key<PublishedReservation>("y_ms", 1, 1000, "", [](PublishedReservation& r) -> Field { return &r.y_ms; }));
  for (const Document& row : document.take_rows("table3")) row.apply(keys, &out.table3.emplace_back());

  document.take_rows("table1");  // for the reports of later experiments; the demo shows none of them
  document.take_rows("table2");
  document.apply(
      {key<Published>("model.share_percent", 0, 100, "", [](Published& p) -> Field { return &p.share_percent; }),
       key<Published>("model.gap_ms", 0, 1000, "", [](Published& p) -> Field { return &p.gap_ms; })},
      &out);
  return out;
}

}  // namespace offhook::config
