// JsonScanner: reads JSON text value by value, without building a tree. Files with graphs need it:
// they are large, some hold one object after the other, and logs have other text around them.
// Knows JSON, not what the values mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ridgeline {

class JsonScanner {
 public:
  // `name` is for messages and must outlive the scanner, as must `text`.
  JsonScanner(std::string_view text, const std::string& name, std::size_t begin = 0)
      : text_(text), name_(&name), at_(begin) {}

  std::size_t position() const { return at_; }
  void seek(std::size_t position) { at_ = position; }

  char peek();          // the next character that is not a blank; '\0' at the end
  bool accept(char c);  // skips it if it is the next one
  void expect(char c);

  // Valid until the next call.
  std::string_view text();

  // NaN, infinities and other text that is not a number are Errors.
  double number();
  std::int64_t integer();

  void skip();  // a value of any kind, nested to at most 64 levels

  // Calls visit(key) for each member; it must read or skip the value. The key is valid until then.
  template <class Visit>
  void object(const Visit& visit) {
    expect('{');
    if (accept('}')) return;
    do {
      key_ = text();
      expect(':');
      visit(std::string_view(key_));
    } while (accept(','));
    expect('}');
  }

  // Calls visit() for each item; it must read or skip it.
  template <class Visit>
  void array(const Visit& visit) {
    expect('[');
    if (accept(']')) return;
    do visit();
    while (accept(','));
    expect(']');
  }

  // An Error with the byte and the line.
  [[noreturn]] void fail(const std::string& what, const std::string& fix = {}) const;

 private:
  std::string_view word();  // letters, digits and signs of a number or keyword
  void add_escape();        // the one that begins here, to the buffer
  std::uint32_t four_hex_digits();

  std::string_view text_;
  const std::string* name_;
  std::size_t at_ = 0;
  std::string buffer_, key_;
};

}  // namespace ridgeline
