// Zip archives: written member by member, or changed in one.
#pragma once

#include <zip.h>

#include <map>
#include <string>

namespace ridgeline::testing {

// Written when it goes out of scope.
class Zip {
 public:
  explicit Zip(const std::string& path) : zip_(zip_open(path.c_str(), ZIP_CREATE, nullptr)) {}
  ~Zip() { zip_close(zip_); }
  Zip(const Zip&) = delete;
  Zip& operator=(const Zip&) = delete;

  zip_uint64_t add(const std::string& name, const std::string& text, bool deflated = false) {
    const std::string& kept = texts_[name] = text;
    zip_source_t* source = zip_source_buffer(zip_, kept.data(), kept.size(), 0);
    const auto index = static_cast<zip_uint64_t>(zip_file_add(zip_, name.c_str(), source, 0));
    zip_set_file_compression(zip_, index, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    return index;
  }
  void encrypt(zip_uint64_t index) {
    zip_file_set_encryption(zip_, index, ZIP_EM_AES_128, "secret");
  }

 private:
  zip_t* zip_;
  std::map<std::string, std::string> texts_;  // libzip reads them when it closes the archive
};

// The first member whose name ends like this, with one text in place of another. False if the
// archive has no such member or the member no such text.
inline bool replace_in_member(const std::string& path, const std::string& ending,
                              const std::string& from, const std::string& to) {
  zip_t* zip = zip_open(path.c_str(), 0, nullptr);
  if (zip == nullptr) return false;
  bool replaced = false;
  std::string text;  // libzip reads it when it closes the archive
  for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0) && !replaced; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    zip_stat_t stat;
    if (zip_stat_index(zip, index, 0, &stat) != 0 || !std::string(stat.name).ends_with(ending))
      continue;
    text.resize(stat.size);
    zip_file_t* member = zip_fopen_index(zip, index, 0);
    const zip_int64_t got = member == nullptr ? -1 : zip_fread(member, text.data(), text.size());
    if (member != nullptr) zip_fclose(member);
    const std::size_t at = text.find(from);
    if (got != static_cast<zip_int64_t>(stat.size) || at == std::string::npos) continue;
    text.replace(at, from.size(), to);
    zip_source_t* source = zip_source_buffer(zip, text.data(), text.size(), 0);
    replaced = zip_file_replace(zip, index, source, 0) == 0;
  }
  return zip_close(zip) == 0 && replaced;
}

}  // namespace ridgeline::testing
