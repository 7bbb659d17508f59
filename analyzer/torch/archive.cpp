// libzip handles zip64, data descriptors and stored members; this file decides which member counts
// and what is refused.
#include "analyzer/torch/archive.h"

#include <zip.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace ridgeline::pytorch {
namespace {

// The graph of a large language model has some 20 MB; text deflates to a tenth or so.
constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t most_inflation = 200;

constexpr std::string_view save_it =
    "save one with torch.export.save(torch.export.export(model, args), \"model.pt2\")";

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using OpenArchive = std::unique_ptr<zip_t, CloseArchive>;

OpenArchive open_archive(const std::string& path) {
  int code = 0;
  OpenArchive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw Error(path, "not a readable zip archive: " + text, "copy or export the file again");
}

// "../x", "/x", "C:\x": a program that unpacks the archive would write elsewhere.
bool leads_outside(std::string_view name) {
  if (name.starts_with('/') || name.find('\\') != std::string_view::npos) return true;
  const std::vector<std::string_view> parts = split(name, '/');
  return std::any_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return part == ".."; });
}

bool is_graph(std::string_view name) {
  if (name == "serialized_exported_program.json" ||
      name.ends_with("/serialized_exported_program.json"))
    return true;
  const std::size_t models = name.rfind("models/");
  return name.ends_with(".json") && models != std::string_view::npos &&
         (models == 0 || name[models - 1] == '/') &&
         name.find('/', models + 7) == std::string_view::npos;
}

[[noreturn]] void refuse_archive(const std::string& path, const std::vector<std::string>& names) {
  const auto holds = [&](std::string_view part) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(part) != std::string::npos;
    });
  };
  const std::string fix(save_it);
  if (holds("data/aotinductor/"))
    throw Error(path, "is a package compiled by AOTInductor, which holds no graph", fix);
  if (holds("/code/") || holds("constants.pkl"))
    throw Error(path, "is TorchScript, not a torch.export archive", fix);
  if (holds("data.pkl"))
    throw Error(path, "holds pickled weights (a state_dict or a module) and no graph", fix);
  if (holds("model.weights.h5"))
    throw Error(path, "is a Keras model",
                "python -m tf2onnx.convert --keras FILE --output model.onnx");
  throw Error(path, "is a zip archive without an exported program", fix);
}

zip_stat_t described(zip_t* archive, zip_uint64_t index, const std::string& path) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                  ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, 0, &stat) != 0 || (stat.valid & needed) != needed)
    throw Error(path, "its directory does not describe every member",
                "copy or export the file again");
  return stat;
}

[[noreturn]] void refuse_inflation(const std::string& where, std::uint64_t bytes,
                                   std::uint64_t packed) {
  throw Error(where,
              "would take " + std::to_string(bytes) + " bytes from " + std::to_string(packed),
              "check where the file comes from; exported graphs are far smaller");
}

void check_member(const zip_stat_t& stat, const std::string& where) {
  if (stat.encryption_method != ZIP_EM_NONE)
    throw Error(where, "is encrypted", "store it without a password");
  if (stat.comp_method != ZIP_CM_STORE &&
      stat.size / most_inflation > std::max<zip_uint64_t>(stat.comp_size, 1))
    refuse_inflation(where, stat.size, stat.comp_size);
}

[[noreturn]] void fail_damaged(const std::string& where) {
  throw Error(where, "is damaged: its length or checksum is not that of the archive's directory",
              "copy or export the file again");
}

std::string read_member(zip_t* archive, zip_uint64_t index, const zip_stat_t& stat,
                        const std::string& path) {
  const std::string where = path + ": " + stat.name;
  check_member(stat, where);
  if (stat.size > most_bytes) refuse_inflation(where, stat.size, stat.comp_size);
  const std::unique_ptr<zip_file_t, CloseMember> member(zip_fopen_index(archive, index, 0));
  if (!member) throw Error(where, std::string("cannot be read: ") + zip_strerror(archive));
  // Grows with what is really there, so that a claimed size costs nothing.
  std::string text;
  constexpr std::size_t step = std::size_t{1} << 20;
  while (text.size() < stat.size) {
    const std::size_t before = text.size();
    text.resize(before + std::min<std::size_t>(step, stat.size - before));
    const zip_int64_t got = zip_fread(member.get(), text.data() + before, text.size() - before);
    if (got <= 0) fail_damaged(where);
    text.resize(before + static_cast<std::size_t>(got));
  }
  // The checksum is compared at the end of the member.
  if (char more = 0; zip_fread(member.get(), &more, 1) != 0) fail_damaged(where);
  return text;
}

// Names of all members, in order; empty for one without a name.
std::vector<std::string> member_names(zip_t* archive) {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* raw = zip_get_name(archive, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    names.emplace_back(raw == nullptr ? "" : raw);
  }
  return names;
}

void check_names(const std::vector<std::string>& names, const std::string& path) {
  for (const std::string& name : names)
    if (leads_outside(name))
      throw Error(path, "its entry " + quote(name) + " leads out of the archive",
                  "check where the file comes from; PyTorch writes no such names");
}

// Constants of the code, and the code: "net/constants.pkl", "net/code/__torch__.py".
bool is_script(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](std::string_view name) {
                       return name == "constants.pkl" || name.ends_with("/constants.pkl");
                     }) &&
         std::any_of(names.begin(), names.end(), [](std::string_view name) {
           return name.starts_with("code/") || name.find("/code/") != std::string_view::npos;
         });
}

}  // namespace

std::string read_exported_program(const std::string& path) {
  const OpenArchive archive = open_archive(path);
  const std::vector<std::string> names = member_names(archive.get());
  check_names(names, path);
  const auto found = std::find_if(names.begin(), names.end(), is_graph);
  if (found == names.end()) refuse_archive(path, names);
  const auto index = static_cast<zip_uint64_t>(found - names.begin());
  return read_member(archive.get(), index, described(archive.get(), index, path), path);
}

bool is_script_archive(const std::string& path) {
  int code = 0;
  const OpenArchive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  return archive && is_script(member_names(archive.get()));
}

void check_script_archive(const std::string& path) {
  const OpenArchive archive = open_archive(path);
  const std::vector<std::string> names = member_names(archive.get());
  check_names(names, path);
  std::uint64_t bytes = 0, packed = 0;
  for (zip_uint64_t i = 0; i < names.size(); ++i) {
    const zip_stat_t stat = described(archive.get(), i, path);
    check_member(stat, path + ": " + stat.name);
    if (__builtin_add_overflow(bytes, stat.size, &bytes)) refuse_inflation(path, stat.size, packed);
    packed += stat.comp_size;
  }
  // Members that share their bytes are each small enough.
  std::error_code fault;
  const std::uintmax_t file = std::filesystem::file_size(path, fault);
  if (!fault && bytes / most_inflation > file) refuse_inflation(path, bytes, file);
}

}  // namespace ridgeline::pytorch
