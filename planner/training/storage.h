// Storage media of datasets: what reading one sample costs without a page cache. Defaults by name;
// `ridgeline measure --only storage` measures a real path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/tokens.h"

namespace ridgeline {

struct FetchCost {
  double bytes_per_s = 0;   // of long reads
  double access_s = 0;      // of each file, before its bytes flow
  double serial_share = 1;  // of the fetch, that more readers do not speed up
};

struct StorageMedium {
  std::string name;  // "hdd", "ssd" …, or the profile with its measurement
  FetchCost cost;
  std::string origin;  // source of the numbers, in one line
  Source source = Source::assumed;
  // 90 % of the media of this kind take between 1/spread and spread times as long.
  double spread = 1;
};

// For a sample in the page cache.
extern const FetchCost cached_fetch;

const std::vector<StorageMedium>& storage_media();

// By name, or as its rate and access time: "90MB/s", "90MB/s,0.2ms". An unknown name is a usage
// error that offers the nearest; `where` names the option.
StorageMedium storage_medium(std::string_view name, std::string_view where = "--storage");

// Time for one reader to fetch one sample.
double fetch_s(const FetchCost& cost, double bytes);

}  // namespace ridgeline
