// Names may hold commas and brackets, so the line is cut at the keys that are known to follow them.
// The parameters at its end become JSON, which the rows of layer_members.cpp read.
#include "analyzer/tensorrt/text_layer.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace ridgeline::tensorrt {
namespace {

// The text before `mark`, and what follows it stays in `rest`; nothing if the mark is missing.
std::optional<std::string_view> cut(std::string_view& rest, std::string_view mark) {
  const std::size_t end = rest.find(mark);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view piece = rest.substr(0, end);
  rest.remove_prefix(end + mark.size());
  return piece;
}

std::string in_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

bool is_key(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '/' || c == '_';
  });
}

// Where the next ", Key: " begins; the end of the text if there is none.
std::size_t next_key(std::string_view text) {
  for (std::size_t at = text.find(", "); at != std::string_view::npos;
       at = text.find(", ", at + 1)) {
    const std::size_t colon = text.find(':', at);
    if (colon == std::string_view::npos) break;
    if (is_key(text.substr(at + 2, colon - at - 2))) return at;
  }
  return text.size();
}

// "[1, 2]" as it is; "[auto const var0 = …;, …]" as a list of texts.
std::string list_value(std::string_view list) {
  const std::string_view inside = list.substr(1, list.size() - 2);
  const bool is_json = std::all_of(inside.begin(), inside.end(), [](unsigned char c) {
    return std::isdigit(c) || c == '-' || c == ',' || c == ' ';
  });
  if (is_json || inside.find('"') != std::string_view::npos) return std::string(list);
  std::string json = "[";
  std::string_view rest = inside;
  while (const auto line = cut(rest, ";")) {
    json += (json.size() > 1 ? "," : "") + in_quotes(*line);
  }
  return json + "]";
}

// "ParameterType: Convolution, Kernel: [5,5], …" as a JSON object.
std::optional<std::string> json_of(std::string_view members) {
  std::string json = "{";
  while (!members.empty()) {
    const auto key = cut(members, ":");
    if (!key) return std::nullopt;
    if (!members.empty() && members.front() == ' ') members.remove_prefix(1);
    std::size_t end = next_key(members);
    std::string value;
    if (*key == "Metadata") {
      end = members.size();  // last of all, and its names may hold anything
      value = in_quotes(members);
    } else if (!members.empty() && (members.front() == '[' || members.front() == '{')) {
      const std::size_t close = members.find(members.front() == '[' ? ']' : '}');
      if (close == std::string_view::npos) return std::nullopt;
      const std::string_view nested = members.substr(0, close + 1);
      value = members.front() == '[' ? list_value(nested) : std::string(nested);
      end = close + 1;
    } else {
      const std::string_view word = members.substr(0, end);
      value = is_number(word) ? std::string(word) : in_quotes(word);
    }
    json += (json.size() > 1 ? "," : "") + in_quotes(*key) + ":" + value;
    members.remove_prefix(end);
    if (members.starts_with(", ")) members.remove_prefix(2);
  }
  return json + "}";
}

// "{ Name: x, Location: Device, Dimensions: [1,1], Format/Datatype: Float }, { … }"
bool read_tensors(std::string_view text, std::vector<EngineTensor>& tensors, LayerReader& reader,
                  const std::string& path) {
  constexpr std::string_view begin = "{ Name: ";
  std::size_t at = text.find(begin);
  while (at != std::string_view::npos) {
    const std::size_t next = text.find(begin, at + 1);
    std::string_view one = text.substr(at + begin.size(), next - at - begin.size());
    const std::size_t close = one.rfind(" }");
    if (close == std::string_view::npos) return false;
    one = one.substr(0, close);
    const std::size_t name_end = std::min(one.find(", Location: "), one.find(", Dimensions: "));
    if (name_end == std::string_view::npos) return false;
    const auto members = json_of(one.substr(name_end + 2));
    if (!members) return false;
    JsonScanner scanner(*members, path);
    tensors.push_back(reader.tensor(scanner));
    tensors.back().name = one.substr(0, name_end);
    at = next;
  }
  return true;
}

}  // namespace

std::optional<EngineLayer> parse_text_layer(std::string_view line, LayerReader& reader,
                                            const std::string& path) {
  if (!line.starts_with(text_layer_mark)) return std::nullopt;
  line.remove_prefix(text_layer_mark.size());
  const auto name = cut(line, ", LayerType: ");
  const auto type = name ? cut(line, ", Inputs: [") : std::nullopt;
  const auto inputs = type ? cut(line, "], Outputs: [") : std::nullopt;
  if (!inputs) return std::nullopt;
  // The list ends at the bracket behind its last tensor.
  const bool is_empty = line.starts_with("]");
  const auto outputs = is_empty ? cut(line, "]") : cut(line, "}]");
  if (!outputs) return std::nullopt;
  if (line.starts_with(", ")) line.remove_prefix(2);
  const auto members = json_of(line);
  if (!members) return std::nullopt;
  JsonScanner scanner(*members, path);
  EngineLayer layer = reader.layer(scanner);
  layer.name = *name;
  layer.type = *type;
  const std::string closed = is_empty ? std::string() : std::string(*outputs) + "}";
  if (!read_tensors(*inputs, layer.inputs, reader, path) ||
      !read_tensors(closed, layer.outputs, reader, path))
    return std::nullopt;
  return layer;
}

}  // namespace ridgeline::tensorrt
