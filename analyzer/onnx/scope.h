// Scope: the names that nodes of one graph can see: its own, and those of the graphs around it.
// A function's body starts a scope without parent.
#pragma once

#include <string_view>
#include <unordered_map>

#include "analyzer/onnx/value.h"

namespace ridgeline::onnx {

class Scope {
 public:
  explicit Scope(const Scope* parent) : parent_(parent) {}

  Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent_)
      if (const auto found = scope->values_.find(name); found != scope->values_.end())
        return found->second;
    return nullptr;
  }

  bool owns(std::string_view name) const { return values_.contains(name); }

  void bind(std::string_view name, Value* value) { values_[name] = value; }

 private:
  const Scope* parent_;
  std::unordered_map<std::string_view, Value*> values_;
};

}  // namespace ridgeline::onnx
