// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Names and what makes an object for each: methods, factorisations, triangular strategies.

#include "parameters/Ainvil_Specification.hpp"

#include <any>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ainvil {
namespace detail {

/// Takes a name and the keys of a specification and gives what makes objects with these parameters:
/// a std::function, in a std::any. All functions may be called from several threads.
class NamedMakers {
public:
  /// One name.
  struct Entry {
    std::string name, meaning;
    std::function<std::vector<ParameterHelp>()> parameters;
    std::function<std::any(Specification&)> read;
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
  std::any read(const std::string& name, Specification& specification) const {
    return entryOf(name)->read(specification);
  }
  /// Null if there is none.
  std::shared_ptr<const Entry> find(const std::string& name) const;

private:
  std::shared_ptr<const Entry> entryOf(const std::string& name) const;
  std::vector<std::shared_ptr<const Entry>> entries() const;

  std::string kind_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Entry>> entries_;
};

/// Throws InvalidArgument where a key of `added` or its name is in use in a specification which
/// takes it as one of the components `known`, and not by one of these.
void requireFree(const MethodHelp& added, const std::vector<MethodHelp>& known,
                 const std::vector<ParameterHelp>& in_use);

} // namespace detail
} // namespace ainvil
