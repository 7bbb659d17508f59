// One member of the archive is changed; the others are copied.
#include "tests/fuzz/script_mutator.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/zip.h"

namespace ridgeline::testing {
namespace {

struct Member {
  std::string name, bytes;
};

std::vector<Member> members_of(const std::string& path) {
  std::vector<Member> members;
  zip_t* zip = zip_open(path.c_str(), ZIP_RDONLY, nullptr);
  if (zip == nullptr) return members;
  constexpr zip_uint64_t most = 1 << 20;
  for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); ++i) {
    zip_stat_t stat;
    if (zip_stat_index(zip, static_cast<zip_uint64_t>(i), 0, &stat) != 0 || stat.size > most)
      continue;
    Member member{stat.name, std::string(stat.size, '\0')};
    zip_file_t* file = zip_fopen_index(zip, static_cast<zip_uint64_t>(i), 0);
    if (file == nullptr) continue;
    if (zip_fread(file, member.bytes.data(), stat.size) == static_cast<zip_int64_t>(stat.size))
      members.push_back(std::move(member));
    zip_fclose(file);
  }
  zip_discard(zip);
  return members;
}

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.';
}

// Where the words of a text begin and end.
std::vector<std::pair<std::size_t, std::size_t>> words_of(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at) words.emplace_back(at, end);
    at = end + 1;
  }
  return words;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

void change_code(std::string& text, std::mt19937& random) {
  static const char* const words[] = {"torch.relu",
                                      "torch.sum",
                                      "torch.t",
                                      "torch.cat",
                                      "torch.split",
                                      "torch.chunk",
                                      "torch.unbind",
                                      "torch.select",
                                      "torch.slice",
                                      "torch.view",
                                      "torch.lstm",
                                      "torch.append",
                                      "torch.dict",
                                      "torch.unsqueeze",
                                      "torch.transpose",
                                      "torch.size",
                                      "torch.zeros",
                                      "torch.matmul",
                                      "torch.layer_norm",
                                      "torch.embedding",
                                      "torch.add_",
                                      "torch.relu_",
                                      "torch.detach",
                                      "torch.quantize_per_tensor",
                                      "None",
                                      "True",
                                      "[]",
                                      "annotate",
                                      "unchecked_cast",
                                      "0",
                                      "1",
                                      "-1",
                                      "2",
                                      "7",
                                      "3.5",
                                      "9223372036854775807",
                                      "\"text\"",
                                      "()",
                                      "{}",
                                      "range",
                                      "int",
                                      "Tensor",
                                      "List[Tensor]",
                                      "Optional[Tensor]",
                                      "uninitialized",
                                      "isinstance",
                                      "ops.prim.NumToTensor"};
  const auto places = words_of(text);
  if (random() % 4 != 0 && !places.empty()) {
    const auto [begin, end] = places[random() % places.size()];
    const auto [other, other_end] = places[random() % places.size()];
    const std::string word = random() % 2 == 0 ? words[random() % std::size(words)]
                                               : text.substr(other, other_end - other);
    text.replace(begin, end - begin, word);
    return;
  }
  std::vector<std::string> lines = lines_of(text);
  if (lines.empty()) return;
  const auto at = static_cast<std::ptrdiff_t>(random() % lines.size());
  const std::size_t other = random() % lines.size();
  switch (random() % 3) {
    case 0:
      lines.erase(lines.begin() + at);
      break;
    case 1:
      lines.insert(lines.begin() + at, std::string(lines[other]));
      break;
    default:
      std::swap(lines[static_cast<std::size_t>(at)], lines[other]);
  }
  text.clear();
  for (const std::string& line : lines) text += line;
}

}  // namespace

std::string mutated_script(const std::string& archive, unsigned seed, const std::string& scratch,
                           const MemberMutator& mutate) {
  std::ofstream(scratch, std::ios::binary) << archive;
  std::vector<Member> members = members_of(scratch);
  if (members.empty()) return {};
  std::mt19937 random(seed);
  std::vector<Member*> code;
  for (Member& member : members)
    if (member.name.ends_with(".py")) code.push_back(&member);
  if (!code.empty() && random() % 4 != 0) {
    std::string& text = code[random() % code.size()]->bytes;
    for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) change_code(text, random);
  } else {
    std::string& bytes = members[random() % members.size()].bytes;
    mutate(bytes, bytes.size() + 64);
  }
  std::filesystem::remove(scratch);
  {
    Zip zip(scratch);
    for (const Member& member : members) zip.add(member.name, member.bytes);
  }
  std::ifstream file(scratch, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace ridgeline::testing
