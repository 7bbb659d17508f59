// SymbolSizes: the numbers behind the symbolic sizes of an exported program: as the user gave them,
// else those of the example that it was exported with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/frontend.h"
#include "analyzer/graph/graph.h"
#include "analyzer/torch/program.h"

namespace ridgeline::pytorch {

class SymbolSizes {
 public:
  // Binds --dim, --shape, --batch and --assume-dim. An Error if one of them does not fit the file,
  // with exit code `incomplete` if a size is unknown.
  SymbolSizes(const Program& program, const ReadOptions& options, std::string path);

  std::pair<std::int64_t, ShapeSource> size(const Size& size);
  // Dimensions are checked: none is negative, and the elements can be counted.
  std::pair<Shape, ShapeSource> shape(const TensorMeta& meta, const std::string& name);

  std::optional<std::int64_t> batch() const { return batch_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Bound {
    std::int64_t size;
    ShapeSource source;
  };

  void collect(const ProgramGraph& graph);
  void note(const Size& size);
  void check_options() const;
  void give(const std::string& symbol, std::int64_t size, const std::string& option);
  void bind_shapes();
  void bind_batch(std::int64_t batch);
  void bind_rest();
  void check_given_shapes();
  std::optional<std::size_t> batch_axis(const std::string& input, const TensorMeta& meta) const;

  const Program& program_;
  const ReadOptions& options_;
  std::string path_;
  std::vector<std::pair<std::string, const TensorMeta*>> inputs_;  // tensors that users give
  std::map<std::string, std::optional<std::int64_t>> symbols_;     // all, with their hints
  std::map<std::string, Bound, std::less<>> bound_;
  std::unordered_map<std::string, std::pair<std::int64_t, ShapeSource>> known_;  // by expression
  std::optional<std::int64_t> batch_;
  std::vector<std::string> warnings_;
};

}  // namespace ridgeline::pytorch
