// Tables of counts. Of a verification one row per kernel and quantity; the last column says why
// there is no value, or that it differs.
#include "report/counters.h"

#include <fmt/format.h>

#include <optional>

#include "base/csv.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/units.h"

namespace ridgeline {

using cuda::CountedKernel;
using cuda::ProgramCounts;

namespace {

using cuda::Quantity;
using cuda::VerifiedKernel;
using cuda::VerifiedQuantity;

std::string kernel_name(const VerifiedKernel& kernel) {
  return std::string(kernel.setup.kernel->name);
}

std::string remark(const VerifiedQuantity& quantity) {
  if (!quantity.measured) return quantity.why;
  if (quantity.agrees()) return {};
  return fmt::format("differs by more than {}",
                     format_percent(facts_of(quantity.quantity).tolerance));
}

constexpr Quantity floating[] = {
    Quantity::flop_fp64,   Quantity::flop_fp32,   Quantity::flop_fp16,   Quantity::tensor_fp64,
    Quantity::tensor_tf32, Quantity::tensor_fp16, Quantity::tensor_bf16, Quantity::tensor_fp8};
constexpr Quantity tensor_integer[] = {Quantity::tensor_int8, Quantity::tensor_int4};

// The sum of those that were counted; absent where none was.
template <std::size_t Count>
std::optional<double> sum(const CountedKernel& kernel, const Quantity (&quantities)[Count]) {
  std::optional<double> total;
  for (const Quantity quantity : quantities)
    if (const auto found = kernel.counts.find(quantity); found != kernel.counts.end())
      total = total.value_or(0) + found->second;
  return total;
}

std::optional<double> dram_bytes(const CountedKernel& kernel) {
  return sum(kernel, {Quantity::dram_read, Quantity::dram_write});
}

Json kernel_json(const CountedKernel& kernel) {
  Json quantities = Json::object();
  for (const auto& [quantity, value] : kernel.counts)
    quantities[std::string(facts_of(quantity).token)] = value;
  return {{"kernel", kernel.name},
          {"launches", kernel.launches},
          {"time_s", kernel.time_s ? Json(*kernel.time_s) : Json()},
          {"counts", quantities}};
}

}  // namespace

CountedKernel total_of(const ProgramCounts& counts) {
  CountedKernel total{.name = "total"};
  for (const CountedKernel& kernel : counts.kernels) {
    total.launches += kernel.launches;
    if (kernel.time_s) total.time_s = total.time_s.value_or(0) + *kernel.time_s;
    for (const auto& [quantity, value] : kernel.counts) total.counts[quantity] += value;
  }
  return total;
}

Json to_json(const ProgramCounts& counts, const std::vector<std::string>& command) {
  Json kernels = Json::array(), metrics = Json::array();
  for (const CountedKernel& kernel : counts.kernels) kernels.push_back(kernel_json(kernel));
  for (const cuda::CounterRow& row : cuda::counter_table())
    if (counts.kernels.front().counts.contains(row.quantity) && counts.architecture >= row.first &&
        counts.architecture <= row.last)
      metrics.push_back({{"quantity", facts_of(row.quantity).token},
                         {"name", row.metric},
                         {"factor", row.factor},
                         {"source", row.source}});
  return {{"schema", "ridgeline.counters/1"},
          {"command", command},
          {"exit_code", counts.exit_code},
          {"architecture", counts.architecture == 0 ? Json() : Json(counts.architecture)},
          {"lost_records", counts.lost},
          {"metrics", metrics},
          {"kernels", kernels},
          {"total", kernel_json(total_of(counts))}};
}

std::string to_text(const ProgramCounts& counts, int width) {
  TextTable table{{{"kernel", Align::left, true},
                   {"launches", Align::right},
                   {"time", Align::right},
                   {"FLOP", Align::right},
                   {"tensor INT OP", Align::right, false, 1},
                   {"DRAM read", Align::right},
                   {"DRAM written", Align::right},
                   {"FLOP/byte", Align::right}},
                  {}};
  const auto count = [](std::optional<double> value) {
    return value ? format_si(*value, "", 4) : std::string();
  };
  const auto bytes = [](std::optional<double> value) {
    return value ? format_si(*value, "B", 4) : std::string();
  };
  auto kernels = counts.kernels;
  if (kernels.size() > 1) kernels.push_back(total_of(counts));
  for (const CountedKernel& kernel : kernels) {
    const auto flop = sum(kernel, floating), moved = dram_bytes(kernel);
    table.rows.push_back({kernel.name, std::to_string(kernel.launches),
                          kernel.time_s ? format_seconds(*kernel.time_s, 4) : "", count(flop),
                          count(sum(kernel, tensor_integer)),
                          bytes(sum(kernel, {Quantity::dram_read})),
                          bytes(sum(kernel, {Quantity::dram_write})),
                          flop && moved && *moved > 0 ? format_number(*flop / *moved) : ""});
  }
  return render_text(table, width);
}

std::string to_csv(const ProgramCounts& counts) {
  std::vector<std::string> head = {"kernel", "launches", "time_s"};
  for (const cuda::QuantityFacts& facts : cuda::quantity_table()) head.emplace_back(facts.token);
  std::string text = csv_row(head);
  for (const CountedKernel& kernel : counts.kernels) {
    std::vector<std::string> row = {kernel.name, std::to_string(kernel.launches),
                                    kernel.time_s ? csv_number(*kernel.time_s) : ""};
    for (const cuda::QuantityFacts& facts : cuda::quantity_table()) {
      const auto found = kernel.counts.find(facts.quantity);
      row.push_back(found == kernel.counts.end() ? "" : csv_number(found->second));
    }
    text += csv_row(row);
  }
  return text;
}

Json verification_json(const cuda::Verification& verification, const cuda::DeviceFacts& facts) {
  Json rows = Json::array();
  for (const VerifiedKernel& kernel : verification.kernels) {
    Json quantities = Json::array();
    for (const VerifiedQuantity& quantity : kernel.quantities) {
      const cuda::QuantityFacts& of = facts_of(quantity.quantity);
      Json metrics = Json::array();
      for (const auto& [row, factor] : quantity.terms)
        metrics.push_back({{"name", row->metric}, {"factor", factor}, {"source", row->source}});
      quantities.push_back({{"quantity", of.token},
                            {"declared", quantity.declared},
                            {"measured", quantity.measured ? Json(*quantity.measured) : Json()},
                            {"tolerance", of.tolerance},
                            {"agrees", quantity.measured ? Json(quantity.agrees()) : Json()},
                            {"missing", quantity.why.empty() ? Json() : Json(quantity.why)},
                            {"metrics", metrics}});
    }
    rows.push_back({{"kernel", kernel_name(kernel)},
                    {"blocks", kernel.setup.grid.blocks},
                    {"block_threads", kernel.setup.grid.threads},
                    {"iterations", kernel.setup.repeats},
                    {"working_set_bytes", kernel.setup.set_bytes},
                    {"time_s", kernel.time_s ? Json(*kernel.time_s) : Json()},
                    {"failure", kernel.failure.empty() ? Json() : Json(kernel.failure)},
                    {"quantities", quantities}});
  }
  return {{"schema", "ridgeline.counter_verification/1"},
          {"gpu", facts.name},
          {"architecture", facts.architecture},
          {"complete", verification.complete},
          {"kernels", rows}};
}

std::string verification_text(const cuda::Verification& verification, int width) {
  TextTable table{{{"kernel"},
                   {"what"},
                   {"declared", Align::right},
                   {"measured", Align::right},
                   {"ratio", Align::right},
                   {"time", Align::right},
                   {"remark", Align::left, true}},
                  {}};
  for (const VerifiedKernel& kernel : verification.kernels) {
    const std::string time = kernel.time_s ? format_seconds(*kernel.time_s, 4) : "";
    if (!kernel.failure.empty())
      table.rows.push_back({kernel_name(kernel), "", "", "", "", "", "failed: " + kernel.failure});
    for (const VerifiedQuantity& quantity : kernel.quantities)
      table.rows.push_back(
          {kernel_name(kernel), std::string(facts_of(quantity.quantity).words),
           format_si(quantity.declared, "", 5),
           quantity.measured ? format_si(*quantity.measured, "", 5) : "",
           quantity.measured ? fmt::format("{:.4f}", 1 + quantity.difference()) : "", time,
           remark(quantity)});
  }
  return render_text(table, width);
}

std::string verification_csv(const cuda::Verification& verification) {
  std::string text =
      csv_row({"kernel", "quantity", "declared", "measured", "tolerance", "time_s", "remark"});
  for (const VerifiedKernel& kernel : verification.kernels) {
    const std::string time = kernel.time_s ? csv_number(*kernel.time_s) : "";
    if (!kernel.failure.empty())
      text += csv_row({kernel_name(kernel), "", "", "", "", "", "failed: " + kernel.failure});
    for (const VerifiedQuantity& quantity : kernel.quantities)
      text += csv_row({kernel_name(kernel), std::string(facts_of(quantity.quantity).token),
                       csv_number(quantity.declared),
                       quantity.measured ? csv_number(*quantity.measured) : "",
                       csv_number(facts_of(quantity.quantity).tolerance), time, remark(quantity)});
  }
  return text;
}

ExitCode judge_verification(const cuda::Verification& verification) {
  std::string differ;
  bool failed = false;
  for (const VerifiedKernel& kernel : verification.kernels) {
    failed = failed || !kernel.failure.empty();
    for (const VerifiedQuantity& quantity : kernel.quantities)
      if (!quantity.agrees())
        differ += (differ.empty() ? "" : ", ") + kernel_name(kernel) + " (" +
                  std::string(facts_of(quantity.quantity).words) + ")";
  }
  if (!differ.empty())
    throw Error("measure", "counters differ from what is declared: " + differ,
                "docs/counters.md says what can be the cause");
  return verification.complete && !failed ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace ridgeline
