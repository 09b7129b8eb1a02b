// SPDX-License-Identifier: BSD-3-Clause
#include "parameters/Ainvil_NamedMakers.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {
namespace {

/// Throws InvalidArgument unless a name can stand in a specification.
void requireName(const std::string& kind, const std::string& name) {
  const bool good = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (!good)
    throw InvalidArgument(message("the name '", name, "' of a ", kind,
                                  " must consist of lower-case letters, digits and hyphens"));
}

/// Throws InvalidArgument where a key of `added` has another name, type or default in `known`.
void requireSameMeaning(const MethodHelp& added, const std::vector<MethodHelp>& known) {
  for (const MethodHelp& other : known)
    for (const ParameterHelp& theirs : other.parameters)
      for (const ParameterHelp& ours : added.parameters)
        if ((ours.key == theirs.key || ours.name == theirs.name) &&
            (ours.key != theirs.key || ours.name != theirs.name || ours.type != theirs.type ||
             ours.default_value != theirs.default_value))
          throw InvalidArgument(message("'", added.name, "' has the parameter '", ours.key, "', \"",
                                        ours.name, "\", default ", ours.default_value, ", but '",
                                        other.name, "' has '", theirs.key, "', \"", theirs.name,
                                        "\", default ", theirs.default_value,
                                        ": a key means the same in both, or give it another name"));
}

} // namespace

void requireFree(const MethodHelp& added, const std::vector<MethodHelp>& known,
                 const std::vector<ParameterHelp>& in_use) {
  const auto isTheirs = [&](const std::string& key) {
    for (const MethodHelp& other : known)
      for (const ParameterHelp& theirs : other.parameters)
        if (theirs.key == key)
          return true;
    return false;
  };
  for (const ParameterHelp& used : in_use)
    for (const ParameterHelp& ours : added.parameters)
      if ((ours.key == used.key || ours.name == used.name) && !isTheirs(used.key))
        throw InvalidArgument(message("'", added.name, "' has the parameter '", ours.key, "', \"",
                                      ours.name, "\", but '", used.key, "', \"", used.name,
                                      "\", is in use beside it: give it another name"));
}

void NamedMakers::add(const Entry& entry, bool in_one_list) {
  requireName(kind_, entry.name);
  if (in_one_list)
    requireSameMeaning({entry.name, entry.meaning, entry.parameters()}, help());
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& other : entries_)
    if (other->name == entry.name)
      throw InvalidArgument(message("there is a ", kind_, " '", entry.name, "' already"));
  entries_.push_back(std::make_shared<const Entry>(entry));
}

void NamedMakers::remove(const std::string& name) {
  const auto entry = entryOf(name);
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.erase(std::remove(entries_.begin(), entries_.end(), entry), entries_.end());
}

std::vector<MethodHelp> NamedMakers::help() const {
  std::vector<MethodHelp> all;
  for (const auto& entry : entries())
    all.push_back({entry->name, entry->meaning, entry->parameters()});
  return all;
}

auto NamedMakers::find(const std::string& name) const -> std::shared_ptr<const Entry> {
  for (const auto& entry : entries())
    if (entry->name == name)
      return entry;
  return nullptr;
}

auto NamedMakers::entryOf(const std::string& name) const -> std::shared_ptr<const Entry> {
  const auto entry = find(name);
  if (entry == nullptr)
    throw InvalidArgument(message("there is no ", kind_, " '", name, "'"));
  return entry;
}

auto NamedMakers::entries() const -> std::vector<std::shared_ptr<const Entry>> {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_;
}

} // namespace detail
} // namespace ainvil
