// SPDX-License-Identifier: MIT
#include "src/program/config/published_workloads.h"

#include "traces/document/data.h"
#include "traces/document/document.h"

namespace offhook::config {

std::vector<PublishedWorkload> load_published_workloads() {
  using Row = PublishedWorkload;
  const KeyTable keys = {key<Row>("name", "", [](Row& r) -> Field { return &r.name; }),
                         key<Row>("netbsd_s", 0, 1e6, "", [](Row& r) -> Field { return &r.netbsd_s; }),
                         key<Row>("windows_nt_s", 0, 1e6, "", [](Row& r) -> Field { return &r.windows_nt_s; }),
                         key<Row>("windows_s", 0, 1e6, "", [](Row& r) -> Field { return &r.windows_s; })};
  std::vector<Row> rows;
  Document document = Document::read_file(data_file("published", "chen"));
  for (const Document& row : document.take_rows("workload")) row.apply(keys, &rows.emplace_back());
  return rows;
}

}  // namespace offhook::config
