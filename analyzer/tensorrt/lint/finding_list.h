// FindingList: collects layers under a cause while a rule goes through an engine, and makes the
// findings of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/tensorrt/lint/lint.h"

namespace ridgeline::tensorrt {

class FindingList {
 public:
  FindingList(std::string_view rule, Source source) : rule_(rule), source_(source) {}

  // Layers with the same words are one finding.
  void add(const std::string& what, const std::string& remedy, FindingLayer layer);

  // The whole layer would go: its time as it is, and all that it moves.
  void add_whole(const LintSubject& subject, std::size_t layer, const std::string& what,
                 const std::string& remedy, std::string detail = {});

  std::vector<Finding> take();

 private:
  std::string_view rule_;
  Source source_;
  std::vector<Finding> findings_;
};

}  // namespace ridgeline::tensorrt
