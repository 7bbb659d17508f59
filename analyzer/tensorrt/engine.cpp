// Finds the layers in a file: as one JSON object, as a stream of objects, or inside a log, as JSON
// or text. Then sorts them by optimisation profile and completes the inputs and outputs, which
// files before TensorRT 11 name only.
#include "analyzer/tensorrt/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analyzer/tensorrt/layer_members.h"
#include "analyzer/tensorrt/log_text.h"
#include "analyzer/tensorrt/text_layer.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/json_scanner.h"
#include "base/text.h"
#include "base/text_file.h"

namespace ridgeline::tensorrt {
namespace {

constexpr std::string_view how_to_export =
    "export it with trtexec --loadEngine=… --exportLayerInfo=engine.graph.json "
    "--profilingVerbosity=detailed";

[[noreturn]] void refuse_names(const std::string& path) {
  throw Error(path, "lists only the names of layers",
              "build the engine with --profilingVerbosity=detailed and export its layers again",
              ExitCode::incomplete);
}

[[noreturn]] void fail_with_times(const std::string& path) {
  throw Error(path, "holds times, not layers",
              "give it as --times FILE beside the file of trtexec --exportLayerInfo");
}

[[noreturn]] void refuse_second_engine(const std::string& path) {
  throw Error(path, "holds two engines", "put each into a file of its own");
}

// A log line may begin with a bracket, too: "[07/07/2026-02:11:29] [I] …".
bool begins_as_json(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  text = without_blanks(text);
  if (text.starts_with('{')) return true;
  if (!text.starts_with('[')) return false;
  text = without_blanks(text.substr(1));
  return text.starts_with('{') || text.starts_with('[') || text.starts_with(']') ||
         text.starts_with('"');
}

// The objects of a file, as they are read one after the other.
class Document {
 public:
  explicit Document(const std::string& path) : path_(path) { engine_.path = path; }

  void object(JsonScanner& scanner) {
    EngineLayer layer;
    scanner.object([&](std::string_view key) {
      if (same_word(key, "Layers"))
        layers(scanner);
      else if (same_word(key, "Bindings"))
        bindings(scanner);
      else if (same_word(key, "I/O Tensors"))
        io_tensors(scanner);
      else if (same_word(key, "schema"))
        schema_ = scanner.peek() == '"' ? std::string(scanner.text()) : std::string();
      else
        reader_.member(scanner, key, layer);
    });
    if (layer.name.empty() || layer.type.empty()) return;
    if (has_engine_) refuse_second_engine(path_);
    LayerReader::finish(layer);
    engine_.layers.push_back(std::move(layer));
  }

  // One block of a log: lines of layers, then the names of inputs and outputs.
  void text_layers(std::vector<EngineLayer> found) {
    const bool again = has_engine_ && same_layers(found, engine_.layers);
    if (has_engine_ && !again) refuse_second_engine(path_);
    has_engine_ = true;
    engine_.layers = std::move(found);  // printed last, with the shapes of the run
    engine_.io.clear();
  }
  void binding(std::string_view name) {
    engine_.io.emplace_back();
    engine_.io.back().tensor.name = name;
  }

  LayerReader& reader() { return reader_; }
  bool is_empty() const { return engine_.layers.empty() && !has_engine_; }

  Engine take() {
    if (engine_.layers.empty()) fail_without_layers();
    const SeenKeys& seen = reader_.seen();
    engine_.era = is_eleven_ || seen.split_format ? Era::v11
                  : seen.stream_or_nodes          ? Era::v8_6
                  : seen.location                 ? Era::v8_4
                                                  : Era::v8_2;
    return std::move(engine_);
  }

 private:
  // Builds of one engine may print it twice; another precision has other types or tactics.
  static bool same_layers(const std::vector<EngineLayer>& a, const std::vector<EngineLayer>& b) {
    return std::ranges::equal(a, b, [](const EngineLayer& x, const EngineLayer& y) {
      return x.name == y.name && x.type == y.type && x.tactic == y.tactic;
    });
  }

  void layers(JsonScanner& scanner) {
    if (has_engine_ || !engine_.layers.empty()) refuse_second_engine(path_);
    has_engine_ = true;
    scanner.array([&] {
      if (scanner.peek() == '"') refuse_names(path_);
      EngineLayer layer = reader_.layer(scanner);
      if (layer.name.empty() || layer.type.empty())
        scanner.fail("a layer without Name or LayerType", std::string(how_to_export));
      engine_.layers.push_back(std::move(layer));
    });
  }

  void bindings(JsonScanner& scanner) {
    scanner.array([&] { binding(scanner.text()); });
  }

  void io_tensors(JsonScanner& scanner) {
    is_eleven_ = true;
    scanner.array([&] { engine_.io.push_back(io_tensor(scanner)); });
  }

  IoTensor io_tensor(JsonScanner& scanner) {
    IoTensor io;
    EngineTensor& tensor = io.tensor;
    scanner.object([&](std::string_view key) {
      if (same_word(key, "Name"))
        tensor.name = scanner.text();
      else if (same_word(key, "IOMode"))
        io.is_input = same_word(scanner.text(), "Input");
      else if (same_word(key, "DataType"))
        tensor.format.type = parse_element_type(scanner.text());
      else if (same_word(key, "Dimensions"))
        tensor.shape = read_shape(scanner);
      else if (same_word(key, "Location"))
        tensor.location = scanner.text();
      else if (same_word(key, "IsShapeInferenceIO"))
        io.is_shape = scanner.peek() == 't', scanner.skip();
      else if (same_word(key, "ProfileInfo"))
        scanner.array([&] { profile_info(scanner, io); });
      else
        scanner.skip();
    });
    return io;
  }

  void profile_info(JsonScanner& scanner, IoTensor& io) {
    ShapeRange range;
    scanner.object([&](std::string_view key) {
      if (same_word(key, "MinShape")) {
        range.min = read_shape(scanner);
      } else if (same_word(key, "OptShape")) {
        range.opt = read_shape(scanner);
      } else if (same_word(key, "MaxShape")) {
        range.max = read_shape(scanner);
      } else if (same_word(key, "Format")) {
        const ElementType type = io.tensor.format.type;
        io.tensor.format = reader_.format(scanner.text());
        if (type != ElementType::unknown) io.tensor.format.type = type;
      } else {
        scanner.skip();
      }
    });
    io.profiles.push_back(std::move(range));
  }

  [[noreturn]] void fail_without_layers() const {
    if (!schema_.empty()) {
      const std::string hint = file_kind(path_).hint;
      throw Error(path_, "is " + quote(schema_) + ", not a network",
                  hint.empty()
                      ? "give a model's file or name, or what trtexec --exportLayerInfo wrote"
                      : hint);
    }
    if (reader_.seen().times) fail_with_times(path_);
    throw Error(path_, has_engine_ ? "the engine has no layers" : "holds no layers of an engine",
                std::string(how_to_export));
  }

  const std::string& path_;
  Engine engine_;
  LayerReader reader_;
  std::string schema_;
  bool has_engine_ = false, is_eleven_ = false;
};

// One object after the other, in a list or not, with or without commas between them.
void read_objects(Document& document, std::string_view text, const std::string& path) {
  const std::size_t begin = text.find_first_of("{[");
  JsonScanner scanner(text, path, begin);
  while (scanner.peek() != '\0' || scanner.position() < text.size()) {
    if (scanner.accept(',')) continue;
    if (scanner.peek() == '[') {
      scanner.array([&] {
        if (scanner.peek() == '"' && document.is_empty()) refuse_names(path);
        document.object(scanner);
      });
    } else {
      document.object(scanner);
    }
  }
}

// --- Logs.

// Where an object with one of these first keys begins.
std::size_t find_object(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('{', from); at != std::string_view::npos;
       at = text.find('{', at + 1)) {
    const std::string_view inside = without_blanks(text.substr(at + 1, 64));
    for (const std::string_view key :
         {"\"Layers\"", "\"I/O Tensors\"", "\"Bindings\"", "\"Name\"", "\"ProfilingVerbosity\""})
      if (inside.starts_with(key)) return at;
  }
  return std::string_view::npos;
}

struct LogLines {
  std::string_view text;
  std::size_t at = 0;

  bool next(std::string_view& line) {
    if (at >= text.size()) return false;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    line = text.substr(at, end - at);
    at = end + 1;
    return true;
  }
  bool is_cut_off() const { return at > text.size(); }  // the last line has no newline
};

// The lines behind "Layers:".
void read_text_block(Document& document, LogLines& lines, const std::string& path) {
  std::vector<EngineLayer> layers;
  std::string_view line;
  bool more = lines.next(line);
  if (more && !log_payload(line).empty() && !log_payload(line).starts_with(text_layer_mark))
    refuse_names(path);
  for (; more && log_payload(line).starts_with(text_layer_mark); more = lines.next(line)) {
    std::optional<EngineLayer> layer;
    if (!lines.is_cut_off()) layer = parse_text_layer(log_payload(line), document.reader(), path);
    if (!layer)
      throw Error(path, fmt::format("the log is cut off in layer {}", layers.size() + 1),
                  "record it again");
    layers.push_back(*std::move(layer));
  }
  if (!more) throw Error(path, "the log ends within the list of layers", "record it again");
  document.text_layers(std::move(layers));
  while (more && log_payload(line).empty()) more = lines.next(line);
  if (!more || log_payload(line) != "Bindings:") return;
  while (lines.next(line) && !line.empty() && line.front() != '[' && line.front() != '&')
    document.binding(log_payload(line));
}

// "TensorRT v8502" is 8.5.2, "v101601" is 10.16.1.
std::string version_of_number(int number) {
  if (number >= 100000)
    return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
  return fmt::format("{}.{}.{}", number / 1000, number / 100 % 10, number % 100);
}

void read_log(Document& document, std::string_view text, const std::string& path) {
  std::size_t at = find_object(text, 0);
  while (at != std::string_view::npos) {
    JsonScanner scanner(text, path, at);
    document.object(scanner);
    at = find_object(text, scanner.position());
  }
  if (!document.is_empty()) return;
  LogLines lines{text};
  std::string_view line;
  while (lines.next(line))
    if (log_payload(line) == "Layers:") read_text_block(document, lines, path);
  if (!document.is_empty()) return;
  if (const KnownFile file = file_kind(path); file.kind == FileKind::network)
    throw Error(path, "is not a TensorRT engine", file.hint);
  if (text.find("=== Profile (") != std::string_view::npos) fail_with_times(path);
  throw Error(path, "no layer information in this text", std::string(how_to_export));
}

// --- Optimisation profiles.

constexpr std::string_view profile_mark = " [profile ";

std::optional<int> marked_profile(std::string_view name) {
  const std::size_t at = name.find(profile_mark);
  if (at == std::string_view::npos) return std::nullopt;
  int profile = 0;
  const char* first = name.data() + at + profile_mark.size();
  const auto [end, fault] = std::from_chars(first, name.data() + name.size(), profile);
  constexpr int most = 1 << 10;
  if (fault != std::errc() || profile < 0 || profile > most) return std::nullopt;
  return profile;
}

std::optional<int> marked_profile(const EngineLayer& layer) {
  if (const auto profile = marked_profile(layer.name)) return profile;
  for (const auto* tensors : {&layer.inputs, &layer.outputs})
    for (const EngineTensor& tensor : *tensors)
      if (const auto profile = marked_profile(tensor.name)) return profile;
  return std::nullopt;
}

// "__myl_Cast_myl11_7" is of the subgraph myl11.
std::string_view subgraph(std::string_view name) {
  const std::size_t at = name.rfind("_myl");
  if (at == std::string_view::npos) return {};
  const std::string_view rest = name.substr(at + 1);
  return rest.substr(0, rest.find('_'));
}

// Layers of the first profile have no mark. Kernels inside a Myelin subgraph have none either, but
// one of them touches a marked tensor.
void assign_profiles(Engine& engine) {
  std::unordered_map<std::string_view, int> subgraphs;
  for (const EngineLayer& layer : engine.layers)
    if (const auto profile = marked_profile(layer))
      if (const auto graph = subgraph(layer.name); !graph.empty()) subgraphs[graph] = *profile;
  for (EngineLayer& layer : engine.layers) {
    const auto known = subgraphs.find(subgraph(layer.name));
    layer.profile = known != subgraphs.end() ? known->second : marked_profile(layer).value_or(0);
    engine.profiles = std::max(engine.profiles, layer.profile + 1);
  }
  for (const IoTensor& io : engine.io)
    engine.profiles = std::max(engine.profiles, static_cast<int>(io.profiles.size()));
}

// --- Inputs and outputs.

struct Ends {
  const EngineTensor* read = nullptr;     // first use
  const EngineTensor* written = nullptr;  // likewise
};

void complete_io(Engine& engine) {
  std::unordered_map<std::string_view, Ends> ends;
  std::vector<std::string_view> order;
  const auto use = [&](const EngineTensor& tensor, const EngineTensor* Ends::*end) {
    const auto [place, is_new] = ends.try_emplace(tensor.name);
    if (is_new) order.push_back(tensor.name);
    if (place->second.*end == nullptr) place->second.*end = &tensor;
  };
  for (const EngineLayer& layer : engine.layers) {
    if (layer.profile != 0) continue;
    for (const EngineTensor& tensor : layer.inputs) use(tensor, &Ends::read);
    for (const EngineTensor& tensor : layer.outputs) use(tensor, &Ends::written);
  }
  if (engine.io.empty())  // the oldest files and single layers do not name them
    for (const std::string_view name : order) {
      const Ends& end = ends.at(name);
      if (end.read != nullptr && end.written != nullptr) continue;
      engine.io.emplace_back();
      engine.io.back().tensor.name = name;
    }
  for (IoTensor& io : engine.io) {
    const auto found = ends.find(io.tensor.name);
    if (found == ends.end()) continue;
    const auto& [read, written] = found->second;
    if (!io.is_input) io.is_input = written == nullptr;
    const EngineTensor* used = *io.is_input && read != nullptr ? read : written;
    if (used == nullptr) continue;
    if (io.profiles.empty() || is_dynamic(io.tensor)) {
      const bool keeps_type = io.tensor.format.type != ElementType::unknown;
      if (!keeps_type) io.tensor.format = used->format;
      io.tensor.shape = used->shape;
      io.tensor.location = used->location;
    }
  }
}

}  // namespace

std::optional<double> tensor_bytes(const EngineTensor& tensor) {
  const auto elements = padded_elements(tensor.shape, tensor.format);
  return elements ? storage_bytes(tensor.format.type, *elements) : std::nullopt;
}

bool is_dynamic(const EngineTensor& tensor) {
  return std::ranges::any_of(tensor.shape, [](std::int64_t size) { return size < 0; });
}

Engine read_engine(std::string_view text, const std::string& path) {
  if (without_blanks(text).empty())
    throw Error(path, "empty, needs layer information", std::string(how_to_export));
  Document document(path);
  if (begins_as_json(text))
    read_objects(document, text, path);
  else
    read_log(document, text, path);
  Engine engine = document.take();
  if (!begins_as_json(text)) read_log_facts(engine, text);
  assign_profiles(engine);
  complete_io(engine);
  return engine;
}

Engine read_engine_file(const std::string& path) { return read_engine(read_text_file(path), path); }

bool looks_like_engine(std::string_view beginning) {
  if (begins_as_json(beginning)) return true;
  const std::string_view head = beginning.substr(0, 64);  // ONNX begins with control characters
  if (std::ranges::any_of(head, [](char c) { return c >= '\0' && c < ' ' && !is_blank(c); }))
    return false;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"TensorRT", "[TRT]", "LayerType: "},
      [&](std::string_view word) { return beginning.find(word) != std::string_view::npos; });
}

void read_log_facts(Engine& engine, std::string_view text) {
  const auto behind = [&](std::string_view mark) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return std::string();
    const std::size_t begin = at + mark.size();
    return trimmed(text.substr(begin, text.find('\n', begin) - begin));
  };
  engine.device = behind("Selected Device: ");
  engine.version = behind("TensorRT version: ");
  if (!engine.version.empty()) return;
  const std::string digits = behind("[TensorRT v");
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (number >= 1000) engine.version = version_of_number(number);
}

std::string version_text(const Engine& engine) {
  if (!engine.version.empty()) return "TensorRT " + engine.version;
  return fmt::format("TensorRT {} or newer", to_string(engine.era));
}

std::string without_profile(std::string_view name) {
  const std::size_t at = name.find(profile_mark);
  if (at == std::string_view::npos) return std::string(name);
  const std::size_t close = name.find(']', at);
  std::string plain(name.substr(0, at));
  if (close != std::string_view::npos) plain += name.substr(close + 1);
  return plain;
}

}  // namespace ridgeline::tensorrt
