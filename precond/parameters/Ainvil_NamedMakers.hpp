// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Names and what makes an object for each: methods, factorisations, triangular strategies.

#include "parameters/Ainvil_ParameterTable.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ainvil {
namespace detail {

/// Takes a name and the keys of a specification and gives a `Maker`, a std::function that makes
/// objects with these parameters. All functions may be called from several threads.
template <class Maker>
class NamedMakers {
public:
  /// One name.
  struct Entry {
    std::string name, meaning;
    std::function<std::vector<ParameterHelp>()> parameters;
    std::function<Maker(Specification&)> read;
  };

  /// `kind`, in messages: "method", "triangular strategy".
  explicit NamedMakers(std::string kind) : kind_(std::move(kind)) {}

  /// \throws InvalidArgument for a name that is taken or not one of a specification, and for a key
  /// that is another parameter of another entry, if all are to stand in one list.
  void add(const Entry& entry, bool in_one_list);
  /// \throws InvalidArgument for an unknown name. What has been made stays.
  void remove(const std::string& name);

  /// All names in the order in which they were added.
  std::vector<MethodHelp> help() const;
  /// \throws InvalidArgument for an unknown name.
  Maker read(const std::string& name, Specification& specification) const {
    return entryOf(name)->read(specification);
  }
  /// Null if there is none.
  std::shared_ptr<const Entry> find(const std::string& name) const;

private:
  std::shared_ptr<const Entry> entryOf(const std::string& name) const;
  std::vector<std::shared_ptr<const Entry>> entries() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_;
  }

  std::string kind_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Entry>> entries_;
};

/// Throws InvalidArgument unless a name can stand in a specification.
void requireName(const std::string& kind, const std::string& name);

/// Throws InvalidArgument where a key of `added` has another name, type or default in `known`.
void requireSameMeaning(const MethodHelp& added, const std::vector<MethodHelp>& known);

/// Throws InvalidArgument where a key of `added` or its name is in use in a specification which
/// takes it as one of the components `known`, and not by one of these.
void requireFree(const MethodHelp& added, const std::vector<MethodHelp>& known,
                 const std::vector<ParameterHelp>& in_use);

template <class Maker>
void NamedMakers<Maker>::add(const Entry& entry, bool in_one_list) {
  requireName(kind_, entry.name);
  if (in_one_list)
    requireSameMeaning({entry.name, entry.meaning, entry.parameters()}, help());
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& other : entries_)
    if (other->name == entry.name)
      throw InvalidArgument(message("there is a ", kind_, " '", entry.name, "' already"));
  entries_.push_back(std::make_shared<const Entry>(entry));
}

template <class Maker>
void NamedMakers<Maker>::remove(const std::string& name) {
  const auto entry = entryOf(name);
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.erase(std::remove(entries_.begin(), entries_.end(), entry), entries_.end());
}

template <class Maker>
std::vector<MethodHelp> NamedMakers<Maker>::help() const {
  std::vector<MethodHelp> all;
  for (const auto& entry : entries())
    all.push_back({entry->name, entry->meaning, entry->parameters()});
  return all;
}

template <class Maker>
auto NamedMakers<Maker>::find(const std::string& name) const -> std::shared_ptr<const Entry> {
  for (const auto& entry : entries())
    if (entry->name == name)
      return entry;
  return nullptr;
}

template <class Maker>
auto NamedMakers<Maker>::entryOf(const std::string& name) const -> std::shared_ptr<const Entry> {
  const auto entry = find(name);
  if (entry == nullptr)
    throw InvalidArgument(message("there is no ", kind_, " '", name, "'"));
  return entry;
}

} // namespace detail
} // namespace ainvil
