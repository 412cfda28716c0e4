// SPDX-License-Identifier: MIT
#include "src/decode/presentation/v8bis_fields.h"

#include <fmt/format.h>
#include <spandsp.h>

#include <span>

#include "src/decode/presentation/names.h"

namespace offhook::decode {
namespace {

using v8bis::Block;
using v8bis::Field;
using v8bis::Level;

std::string name(const Block& block, int parameter) {
  const char* known = v8bis::parameter_name(block, parameter);
  return known != nullptr ? known : fmt::format("reserved {}", parameter);
}

std::vector<std::string> names(const Block* block) {
  std::vector<std::string> all;
  for (int k = 1; block != nullptr && k <= 63; ++k) {
    if (block->has(k)) all.push_back(name(*block, k));
  }
  return all;
}

// Parameters with subparameters, each with its own.
std::vector<V8bisParameters> fields_of(const v8bis::Message& m, Field field, Level level, int spar1) {
  const bool top = level == Level::kSPar1;
  const Block* const block = m.find(field, level, spar1);
  std::vector<V8bisParameters> all;
  for (int k = 1; block != nullptr && k <= 63; ++k) {
    if (!block->has(k)) continue;
    if (top) {
      all.push_back({name(*block, k), names(m.find(field, Level::kNPar2, k)), fields_of(m, field, Level::kSPar2, k)});
    } else {
      all.push_back({name(*block, k), names(m.find(field, Level::kNPar3, spar1, k)), {}});
    }
  }
  return all;
}

std::vector<std::string> in_words(const std::vector<V8bisParameters>& all) {
  std::vector<std::string> words;
  for (const V8bisParameters& p : all) {
    std::vector<std::string> under = p.parameters;
    for (const std::string& deeper : in_words(p.fields)) under.push_back(deeper);
    words.push_back(under.empty() ? p.name : fmt::format("{}: {}", p.name, fmt::join(under, ", ")));
  }
  return words;
}

std::string in_words(const V8bisParameters& field) {
  std::string words = fmt::format("{}", fmt::join(field.parameters, ", "));
  for (const std::string& deeper : in_words(field.fields)) words += (words.empty() ? "" : "; ") + deeper;
  return words;
}

std::string in_words(const V8bisNonStandard& b) {
  std::string s = b.country;
  if (!b.provider.empty()) s += ", " + b.provider;
  const std::string code = b.provider_code.empty() ? b.country_code : b.country_code + " " + b.provider_code;
  s += s.empty() ? code : fmt::format(" ({})", code);
  return b.octets.empty() ? s : s + ": " + b.octets;
}

}  // namespace

V8bisParameters v8bis_parameters(const v8bis::Message& m, Field field) {
  return {"", names(m.find(field, Level::kNPar1)), fields_of(m, field, Level::kSPar1, 0)};
}

V8bisNonStandard v8bis_non_standard(const v8bis::NonStandard& block) {
  const std::span<const std::uint8_t> provider{block.provider(), block.provider_size};
  V8bisNonStandard n{octet_string({&block.country, 1}), "", octet_string(provider), "",
                     octet_string({block.information(), block.size})};
  // The tables also try the code with reversed bits, because some fax machines send it so.
  if (t35_real_country_code(block.country, 0) != block.country) return n;
  if (const char* country = t35_country_code_to_str(block.country, 0)) n.country = country;
  std::vector<std::uint8_t> code = {block.country};
  code.insert(code.end(), block.provider(), block.information());
  const char* vendor = nullptr;
  if (t35_decode(code.data(), static_cast<int>(code.size()), nullptr, &vendor, nullptr) && vendor != nullptr)
    n.provider = vendor;
  return n;
}

V8bisFields v8bis_fields(const V8bisMessage& heard) {
  const v8bis::Message& m = heard.message;
  V8bisFields f;
  if (heard.malformed)
    f.malformed = fmt::format("octet {}: expected {}", heard.malformed.octet, heard.malformed.expected);
  v90::QuickConnect qc;
  if (v90::decode_qc2(heard.octets.data(), static_cast<int>(heard.octets.size()), &qc)) {
    f.identification = fmt::format("{}2: {}", qc.acknowledge ? "QCA" : "QC", describe(qc));
    return f;
  }
  f.identification = in_words(v8bis_parameters(m, Field::kIdentification));
  f.standard = in_words(v8bis_parameters(m, Field::kStandard));
  for (int k = 0; k < m.non_standards; ++k) {
    f.non_standard += (k > 0 ? "; " : "") + in_words(v8bis_non_standard(m.non_standard[k]));
  }
  return f;
}

}  // namespace offhook::decode
