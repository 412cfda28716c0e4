// SPDX-License-Identifier: MIT
//
// The information exchanged by the modems of a recorded call, and the results of probing, field by field, as tables for
// people: one source for the text and for the page.
#pragma once

#include <string>
#include <vector>

#include "src/decode/call/call.h"

namespace offhook::decode {

struct FieldTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< each of columns.size() cells
  std::string note;                            ///< additional fields; may be empty
};

/// Messages of V.8bis, menus of V.8, INFO0, INFO1, probing, MP, CP, pages of a fax: those that were heard, in this
/// order. Of a repeated menu or INFO the last one; every MP; every CP except the CP' that only acknowledges.
std::vector<FieldTable> field_tables(const Call& call);

}  // namespace offhook::decode
