// One pass over the bytes; a cell is quoted only if it begins with a quote.
#include "base/csv_reader.h"

#include <utility>

#include "base/error.h"

namespace ridgeline {
namespace {

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
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

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& name) {
  return Reader(text, name).run();
}

}  // namespace ridgeline
