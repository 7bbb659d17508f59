// Storage media that datasets lie on: what reading one sample costs before any page cache.
// Defaults by name; `ridgeline measure --only storage` gives those of a real path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/tokens.h"

namespace ridgeline {

struct FetchCost {
  double bytes_per_s = 0;   // of long reads
  double access_s = 0;      // of each file, before its bytes flow
  double serial_share = 1;  // of the fetch that more readers do not make faster
};

struct StorageMedium {
  std::string name;  // "hdd", "ssd" …, or the file that it was measured in
  FetchCost cost;
  std::string origin;  // where the numbers come from, in one line
  Source source = Source::assumed;
};

// Page cache: what a sample costs that is in memory already.
extern const FetchCost cached_fetch;

const std::vector<StorageMedium>& storage_media();

// An unknown name is a usage error that offers the nearest; `where` names the option.
const StorageMedium& storage_medium(std::string_view name, std::string_view where = "--storage");

// Time that one reader takes for one sample.
double fetch_s(const FetchCost& cost, double bytes);

}  // namespace ridgeline
