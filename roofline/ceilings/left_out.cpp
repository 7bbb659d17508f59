// Compares every measured row with the ceiling that stands for its kind.
// What is on the picture already is not left out, whatever its status.
#include "roofline/ceilings/left_out.h"

#include "base/units.h"
#include "roofline/ceilings/names.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline {
namespace {

// Rows that beat the ceiling of their kind and were not taken: throttled or impossible ones.
template <class Row, class Ceiling, class SameKind>
void add_left_out(std::vector<LeftOut>& left_out, const Row& row, const Estimate& rate,
                  const std::vector<Ceiling>& ceilings, Estimate Ceiling::*ceiling_rate,
                  const SameKind& same_kind, LeftOut found) {
  const Ceiling* instead = nullptr;
  for (const Ceiling& ceiling : ceilings) {
    if (!same_kind(ceiling)) continue;
    if (ceiling.kernel == row.kernel) return;  // it is on the picture
    if (ceiling.chosen) instead = &ceiling;
  }
  if (instead && rate.value <= (instead->*ceiling_rate).value) return;
  found.processor = row.processor;
  found.kernel = row.kernel;
  found.threads = row.threads;
  found.status = row.status;
  found.note = row.note;
  if (instead) found.instead = instead->name;
  left_out.push_back(std::move(found));
}

}  // namespace

std::vector<LeftOut> find_left_out(const Roofline& roofline, const ProfileMode& mode,
                                   const std::function<bool(Processor, int threads)>& takes) {
  std::vector<LeftOut> left_out;
  for (const ComputeRow& row : mode.compute) {
    if (!row.flops_per_s || row.sparse || row.status == Status::unsupported ||
        !takes(row.processor, row.threads))
      continue;
    LeftOut found;
    found.name = row.processor == Processor::cpu
                     ? roof_name(row.dtype, row.unit, row.isa)
                     : paper_roof_name(row.processor, row.dtype, row.unit, row.sparse);
    found.flops_per_s = row.flops_per_s;
    found.dtype = row.dtype;
    const auto same_kind = [&](const Roof& roof) {
      return roof.processor == row.processor && roof.unit == row.unit && roof.dtype == row.dtype &&
             roof.accumulate == row.accumulate && !roof.sparse;
    };
    add_left_out(left_out, row, *row.flops_per_s, roofline.roofs, &Roof::flops_per_s, same_kind,
                 std::move(found));
  }
  for (const MemoryRow& row : mode.memory) {
    if (!row.bytes_per_s || row.status == Status::unsupported ||
        (!row.allocation.empty() && row.allocation != "device") ||
        !takes(row.processor, row.threads))
      continue;
    LeftOut found;
    found.name = slope_name(row.level, row.direction);
    found.bytes_per_s = row.bytes_per_s;
    const auto same_kind = [&](const Slope& slope) {
      return slope.processor == row.processor && slope.level == row.level && is_usual(slope);
    };
    add_left_out(left_out, row, *row.bytes_per_s, roofline.slopes, &Slope::bytes_per_s, same_kind,
                 std::move(found));
  }
  return left_out;
}

std::string left_out_text(const LeftOut& row) {
  const std::string rate = row.flops_per_s
                               ? format_si(row.flops_per_s->value, rate_unit(*row.dtype))
                               : format_si(row.bytes_per_s->value, "B/s");
  std::string text = row.name + " " + rate + " (" + std::string(to_string(row.status)) +
                     (row.note.empty() ? ")" : ": " + row.note + ")");
  return row.instead.empty() ? text : text + "; instead " + row.instead;
}

}  // namespace ridgeline
