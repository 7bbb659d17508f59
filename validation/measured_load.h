// The networks of a measurement table as the model reads them, each built once.
// A table names the same network in many modes; building and lowering it is what takes time.
#pragma once

#include <map>
#include <string>

#include "roofline/model/network_load.h"
#include "validation/measurement_table.h"

namespace ridgeline {

class MeasuredLoads {
 public:
  // Stays valid as long as this object. Training is one step, with plain gradient descent.
  const NetworkLoad& of(const Observation& row);

 private:
  std::map<std::string, NetworkLoad> loads_;
};

}  // namespace ridgeline
