// Scope: the names that nodes of one graph can see: its own, and those of the graphs around it.
// A function's body starts a scope without parent.
#pragma once

#include <string_view>

#include "analyzer/onnx/name_map.h"
#include "analyzer/onnx/value.h"

namespace ridgeline::onnx {

class Scope {
 public:
  explicit Scope(const Scope* parent) : parent_(parent) {}

  Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent_)
      if (Value* const* found = scope->values_.find(name)) return *found;
    return nullptr;
  }

  bool owns(std::string_view name) const { return values_.find(name) != nullptr; }

  void bind(std::string_view name, Value* value) { values_.set(name, value); }

  void reserve(std::size_t names) { values_.reserve(names); }

 private:
  const Scope* parent_;
  NameMap<Value*> values_;
};

}  // namespace ridgeline::onnx
