// CSV as spreadsheets, editors and programs write it, and the line number of errors.
#include "base/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace ridgeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string failure(std::string_view text) {
  try {
    parse_csv(text, "t.csv");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CsvReader, ReadsCellsWithTheirLines) {
  EXPECT_THAT(parse_csv("a,b\n1,\n\n,2\n", "t.csv"),
              ElementsAre(CsvRow{1, {"a", "b"}}, CsvRow{2, {"1", ""}}, CsvRow{4, {"", "2"}}));
  EXPECT_THAT(parse_csv("", "t.csv"), IsEmpty());
  EXPECT_THAT(parse_csv("\n\n", "t.csv"), IsEmpty());
}

TEST(CsvReader, TakesWhatOtherProgramsWrite) {
  EXPECT_THAT(parse_csv("\xEF\xBB\xBF"
                        "a,b\r\n1,2\r\n3,4",
                        "t.csv"),
              ElementsAre(CsvRow{1, {"a", "b"}}, CsvRow{2, {"1", "2"}}, CsvRow{3, {"3", "4"}}));
}

TEST(CsvReader, QuotedCellsHoldEverything) {
  EXPECT_THAT(
      parse_csv("\"a,b\",\"say \"\"no\"\"\",\"two\nlines\"\nx,y,z\n", "t.csv"),
      ElementsAre(CsvRow{1, {"a,b", "say \"no\"", "two\nlines"}}, CsvRow{3, {"x", "y", "z"}}));
}

TEST(CsvReader, ReadsBackWhatIsWritten) {
  const std::vector<std::string> cells{"plain", "", "a,b", "\"", "x\ny", " blank ", "µ"};
  EXPECT_EQ(parse_csv(csv_row(cells), "t.csv").front().cells, cells);
}

TEST(CsvReader, NamesTheLineOfABrokenQuote) {
  EXPECT_EQ(failure("a\n\"open\nstill\n"), "t.csv:2: a quote is opened and not closed");
  EXPECT_EQ(failure("a\n\"b\"c\n"), "t.csv:2: text behind a closing quote");
  EXPECT_THAT(failure("\""), HasSubstr("t.csv:1"));
}

}  // namespace
}  // namespace ridgeline
