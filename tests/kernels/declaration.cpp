// Fields in a fixed order, separated by tabs; enumerators as numbers.
// Both programs are built from the same headers, so the numbers agree.
#include "tests/kernels/declaration.h"

#include <sstream>
#include <stdexcept>

namespace ridgeline::testing {
namespace {

// The numbers that the proof uses, in the order of the line.
template <class Row, class Visit>
void for_each_number(Row& kernel, Visit visit) {
  visit(kernel.chains);
  visit(kernel.arithmetic);
  visit(kernel.flop_each);
  visit(kernel.loads);
  visit(kernel.stores);
  visit(kernel.prefetches);
  visit(kernel.access_bytes);
  visit(kernel.arrays);
  visit(kernel.cycles);
}

}  // namespace

cpu::Kernel Declaration::row() const {
  cpu::Kernel result = kernel;
  result.name = name;
  result.mnemonics = mnemonics;
  result.registers = registers;
  return result;
}

std::string to_line(const cpu::Kernel& kernel, const std::string& reason) {
  std::ostringstream line;
  line << kernel.name << '\t' << kernel.mnemonics << '\t' << kernel.registers << '\t' << reason
       << '\t' << reinterpret_cast<std::uintptr_t>(kernel.body) << '\t' << int(kernel.role) << '\t'
       << int(kernel.direction);
  for_each_number(kernel, [&](int number) { line << '\t' << number; });
  return line.str();
}

Declaration from_line(const std::string& line) {
  Declaration declaration;
  std::istringstream fields(line);
  for (std::string* text :
       {&declaration.name, &declaration.mnemonics, &declaration.registers, &declaration.reason})
    std::getline(fields, *text, '\t');
  int role = 0, direction = 0;
  fields >> declaration.address >> role >> direction;
  declaration.kernel.role = cpu::Role(role);
  declaration.kernel.direction = Direction(direction);
  for_each_number(declaration.kernel, [&](int& number) { fields >> number; });
  if (!fields) throw std::runtime_error("not a kernel's declaration: " + line);
  return declaration;
}

}  // namespace ridgeline::testing
