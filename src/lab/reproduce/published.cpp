// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/published.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "traces/scenario/data.h"

namespace offhook::reproduce {

using config::Error;
using Json = nlohmann::json;

namespace {

struct Head {
  std::string id, seed, at;
  Grade grade = Grade::kHard;
};

/// @throws Error if it is not one of `words`
template <typename Word>
Word word(std::string_view key, std::string_view given, const std::string& position,
          const std::array<std::string_view, 4>& words) {
  const auto found = std::find(words.begin(), words.end(), given);
  if (found == words.end())
    throw Error(fmt::format("{}: {} is \"{}\"; expected one of: {}", position, key, given, fmt::join(words, ", ")));
  return static_cast<Word>(found - words.begin());
}

/// @param pattern a * in it matches any number of characters
bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  for (text.remove_prefix(star);; text.remove_prefix(1)) {
    if (matches(pattern, text)) return true;
    if (text.empty()) return false;
  }
}

/// "phi, spread" apart.
std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t comma = list.find(", ");
    out.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    list.remove_prefix(comma + 2);
  }
}

std::vector<Judgement> take_judgements(config::Document& claim, const std::string& position, Grade of_claim) {
  std::vector<Judgement> out;
  for (config::Document& row : claim.take_rows("judged")) {
    Judgement j;
    j.position = row.position("what");
    const auto take = [&](std::string_view key) {
      auto value = row.take_string(key);
      if (!value || value->empty()) throw Error(fmt::format("{}: a judgement without {}", j.position, key));
      return std::move(*value);
    };
    j.what = take("what");
    if (std::count(j.what.begin(), j.what.end(), '*') > 4)  // each * is tried at each position
      throw Error(fmt::format("{}: an entry with more than four *", j.position));
    j.grade = of_claim;
    if (row.has("grade")) {
      const std::string at = row.position("grade");
      j.grade = word<Grade>("grade", take("grade"), at, kGrades);
    }
    const std::string at = row.position("provenance");
    j.provenance = word<Provenance>("provenance", take("provenance"), at, kProvenances);
    if (j.provenance != Provenance::kInput || row.has("because")) j.because = take("because");
    if (row.has("hinges")) j.hinges = words_of(take("hinges"));
    if ((j.grade == Grade::kInput) != (j.provenance == Provenance::kInput))
      throw Error(fmt::format("{}: grade {} and provenance {}; an input is both or neither", j.position,
                              to_string(j.grade), to_string(j.provenance)));
    row.apply({}, nullptr);  // anything else is an error
    out.push_back(std::move(j));
  }
  if (out.empty()) throw Error(fmt::format("{}: a claim without the key judged", position));
  return out;
}

std::string joined(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

/// Every value that is not a table, by its path.
void leaves(const Json& node, const std::string& prefix, std::vector<std::string>& out) {
  const bool tables = node.is_array() && !node.empty() && node.front().is_object();
  if (!node.is_object() && !tables) return out.push_back(prefix);
  std::size_t i = 0;
  for (const auto& [key, value] : node.items())
    leaves(value, tables ? fmt::format("{}[{}]", prefix, i++) : joined(prefix, key), out);
}

}  // namespace

std::string_view to_string(Grade grade) {
  return kGrades.at(static_cast<std::size_t>(grade));
}

std::string_view to_string(Provenance provenance) {
  return kProvenances.at(static_cast<std::size_t>(provenance));
}

struct Published::Claim {
  Head head;
  std::vector<Judgement> judged;
  std::set<std::string, std::less<>> judged_rows;  ///< patterns that matched a row
  std::string position;
  std::vector<std::pair<std::string, Json>> values;  ///< leaves by path
  std::vector<std::string> paths;
  std::mutex mutex;
  std::set<std::string, std::less<>> read;

  const Json* find(const std::string& path) {
    for (const auto& [known, value] : values) {
      if (known != path) continue;
      const std::lock_guard lock(mutex);
      read.insert(path);
      return &value;
    }
    return nullptr;
  }
  [[noreturn]] void fail(const std::string& path, std::string_view expected) const {
    throw Error(fmt::format("{}: {}: {}: expected {}", position, head.id, path, expected));
  }
  template <typename T, typename Is>
  std::vector<T> list(const std::string& path, Is is, std::string_view expected) {
    const Json* value = find(path);
    if (value == nullptr || !value->is_array()) fail(path, expected);
    std::vector<T> out;
    for (const Json& item : *value) {
      if (!is(item)) fail(path, expected);
      out.push_back(item.get<T>());
    }
    return out;
  }
};

double Published::number(std::string_view path) const {
  const std::string whole = joined(prefix_, path);
  const Json* value = claim_->find(whole);
  if (value == nullptr || !value->is_number()) claim_->fail(whole, "a number");
  return value->get<double>();
}

std::vector<double> Published::numbers(std::string_view path) const {
  return claim_->list<double>(
      joined(prefix_, path), [](const Json& v) { return v.is_number(); }, "a list of numbers");
}

std::string Published::text(std::string_view path) const {
  const std::string whole = joined(prefix_, path);
  const Json* value = claim_->find(whole);
  if (value == nullptr || !value->is_string()) claim_->fail(whole, "a string");
  return value->get<std::string>();
}

std::vector<std::string> Published::texts(std::string_view path) const {
  return claim_->list<std::string>(
      joined(prefix_, path), [](const Json& v) { return v.is_string(); }, "a list of strings");
}

std::vector<Published> Published::rows(std::string_view path) const {
  std::vector<Published> out;
  const std::string whole = joined(prefix_, path);
  for (std::size_t i = 0;; ++i) {
    const std::string prefix = fmt::format("{}[{}]", whole, i);
    const bool there = std::any_of(claim_->paths.begin(), claim_->paths.end(),
                                   [&](const std::string& p) { return p.starts_with(prefix + "."); });
    if (!there) break;
    out.push_back(Published(claim_, prefix));
  }
  if (out.empty()) claim_->fail(whole, "a list of tables");
  return out;
}

Published Published::table(std::string_view path) const {
  const std::string prefix = joined(prefix_, path);
  const bool there = std::any_of(claim_->paths.begin(), claim_->paths.end(),
                                 [&](const std::string& p) { return p.starts_with(prefix + "."); });
  if (!there) claim_->fail(prefix, "a table");
  return Published(claim_, prefix);
}

bool Published::has(std::string_view path) const {
  const std::string whole = joined(prefix_, path);
  return std::any_of(claim_->paths.begin(), claim_->paths.end(), [&](const std::string& p) {
    return p == whole || p.starts_with(whole + ".") || p.starts_with(whole + "[");
  });
}

const std::string& Published::id() const {
  return claim_->head.id;
}
const std::string& Published::seed() const {
  return claim_->head.seed;
}
const std::string& Published::at() const {
  return claim_->head.at;
}
Grade Published::grade() const {
  return claim_->head.grade;
}

const Judgement& Published::judgement(std::string_view what) const {
  for (const Judgement& j : claim_->judged) {
    if (!matches(j.what, what)) continue;
    const std::lock_guard lock(claim_->mutex);
    claim_->judged_rows.insert(j.what);
    return j;
  }
  throw Error(fmt::format("{}: {} has no judgement for \"{}\"", claim_->position, claim_->head.id, what));
}

std::vector<std::string> Published::unread() const {
  const std::lock_guard lock(claim_->mutex);
  std::vector<std::string> out;
  for (const std::string& path : claim_->paths) {
    if (!claim_->read.contains(path)) out.push_back(path);
  }
  for (const Judgement& j : claim_->judged) {
    if (!claim_->judged_rows.contains(j.what)) out.push_back(fmt::format("judged \"{}\"", j.what));
  }
  return out;
}

std::vector<Published> read_published(config::Document document) {
  std::vector<Published> out;
  for (config::Document& row : document.take_rows("claim")) {
    auto claim = std::make_shared<Published::Claim>();
    claim->position = row.position("id");
    const auto take = [&](std::string_view key) {
      auto value = row.take_string(key);
      if (!value || value->empty()) throw Error(fmt::format("{}: a claim without {}", claim->position, key));
      return std::move(*value);
    };
    claim->head = {take("id"), take("seed"), take("at"), {}};
    const std::string grade_at = row.position("grade");
    claim->head.grade = word<Grade>("grade", take("grade"), grade_at, kGrades);
    if (std::any_of(out.begin(), out.end(), [&](const Published& p) { return p.id() == claim->head.id; }))
      throw Error(fmt::format("{}: duplicate claim {}", claim->position, claim->head.id));
    claim->judged = take_judgements(row, claim->position, claim->head.grade);
    try {
      const Json body = Json::parse(row.json());
      leaves(body, "", claim->paths);
      for (const std::string& path : claim->paths) {
        std::string pointer = "/" + path;
        for (char& c : pointer) c = c == '.' || c == '[' ? '/' : c;
        pointer.erase(std::remove(pointer.begin(), pointer.end(), ']'), pointer.end());
        claim->values.emplace_back(path, body.at(Json::json_pointer(pointer)));
      }
    } catch (const Json::exception&) {  // a quoted key that contains a dot, a bracket or a slash
      throw Error(fmt::format("{}: the claim {} has a key that is not a word", claim->position, claim->head.id));
    }
    out.push_back(Published(std::move(claim), ""));
  }
  document.apply({}, nullptr);  // anything else is an error
  return out;
}

std::vector<Published> load_published() {
  std::vector<Published> all;
  for (const std::string& name : config::data_names("published")) {
    for (Published& p : read_published(config::Document::read_file(config::data_file("published", name)))) {
      if (std::any_of(all.begin(), all.end(), [&](const Published& known) { return known.id() == p.id(); }))
        throw Error(fmt::format("{}.toml: the claim {} is also in another file", name, p.id()));
      all.push_back(std::move(p));
    }
  }
  return all;
}

Published load_published(std::string_view id) {
  for (Published& p : load_published()) {
    if (p.id() == id) return std::move(p);
  }
  throw Error(fmt::format("no file of {} has the claim {}", (config::data_dir() / "published").string(), id));
}

}  // namespace offhook::reproduce
