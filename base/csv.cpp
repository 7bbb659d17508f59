// Written rows end in a newline without carriage return: cut, awk and every CSV reader take that.
// Reading is one pass over the bytes; a cell is quoted only if it begins with a quote.
#include "base/csv.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace ridgeline {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
    if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
      throw Error(name_, "is UTF-16 text", "save it as UTF-8");
  }

  std::vector<CsvRow> run() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      CsvRow row{line_, {}};
      do {
        row.cells.push_back(cell());
      } while (take(','));
      end_line();
      const bool is_blank = row.cells.size() == 1 && row.cells.front().empty();
      if (!is_blank) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool at_end_of_cell() const {
    return at_ >= text_.size() || text_[at_] == ',' || text_[at_] == '\n' ||
           text_.substr(at_).starts_with("\r\n");
  }

  void end_line() {
    take('\r');
    if (take('\n')) ++line_;
  }

  std::string cell() {
    if (take('"')) return quoted();
    std::string cell;
    while (!at_end_of_cell()) cell += text_[at_++];
    return cell;
  }

  std::string quoted() {
    const int opened = line_;
    std::string cell;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\n') ++line_;
      if (c != '"') {
        cell += c;
      } else if (!take('"')) {
        if (!at_end_of_cell()) fail(line_, "text behind a closing quote");
        return cell;
      } else {
        cell += '"';
      }
    }
    fail(opened, "a quote is opened and not closed");
  }

  [[noreturn]] void fail(int line, const char* what) const {
    throw Error(name_ + ":" + std::to_string(line), what);
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::string csv_field(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     !text.starts_with(' ') && !text.ends_with(' ');
  if (plain) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + "\"";
}

std::string csv_number(double value) {
  if (!std::isfinite(value)) return "";
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value + 0.0);
  return {buffer.data(), result.ptr};
}

std::string csv_row(const std::vector<std::string>& fields) {
  // A single empty field would read as a blank line, which readers skip.
  if (fields.size() == 1 && fields.front().empty()) return "\"\"\n";
  std::string row;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) row += ',';
    row += csv_field(fields[i]);
  }
  return row + "\n";
}

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& name) {
  std::vector<CsvRow> rows = CsvReader(text, name).run();
  // A header in one cell, as spreadsheets of other countries write it.
  if (!rows.empty() && rows.front().cells.size() == 1)
    for (const auto& [sign, word] : {std::pair{';', "semicolons"}, std::pair{'\t', "tabs"}})
      if (rows.front().cells.front().find(sign) != std::string::npos)
        throw Error(name, std::string("its cells are separated by ") + word,
                    "save it with commas between the cells");
  return rows;
}

}  // namespace ridgeline
