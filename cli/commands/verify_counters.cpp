// One row per kernel and quantity; the last column says why there is no value, or that it differs.
// The profile store is not touched: nothing here is a rate.
#include "cli/commands/verify_counters.h"

#include <fmt/format.h>

#include <ostream>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "kernels/cuda/gpu_here.h"
#include "kernels/steady_clock.h"

namespace ridgeline::cli {
namespace {

using cuda::VerifiedKernel;
using cuda::VerifiedQuantity;

std::string name_of(const VerifiedKernel& kernel) { return std::string(kernel.setup.kernel->name); }

std::string remark(const VerifiedQuantity& quantity) {
  if (!quantity.measured) return quantity.why;
  if (quantity.agrees()) return {};
  return fmt::format("differs by more than {}",
                     format_percent(facts_of(quantity.quantity).tolerance));
}

}  // namespace

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
    rows.push_back({{"kernel", name_of(kernel)},
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
      table.rows.push_back({name_of(kernel), "", "", "", "", "", "failed: " + kernel.failure});
    for (const VerifiedQuantity& quantity : kernel.quantities)
      table.rows.push_back(
          {name_of(kernel), std::string(facts_of(quantity.quantity).words),
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
      text += csv_row({name_of(kernel), "", "", "", "", "", "failed: " + kernel.failure});
    for (const VerifiedQuantity& quantity : kernel.quantities)
      text += csv_row({name_of(kernel), std::string(facts_of(quantity.quantity).token),
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
        differ += (differ.empty() ? "" : ", ") + name_of(kernel) + " (" +
                  std::string(facts_of(quantity.quantity).words) + ")";
  }
  if (!differ.empty())
    throw Error("measure", "counters differ from what is declared: " + differ,
                "docs/counters.md says what can be the cause");
  return verification.complete && !failed ? ExitCode::ok : ExitCode::incomplete;
}

ExitCode verify_counters_here(const cuda::MeasureOptions& wanted, const Options& options,
                              Console& console) {
  for (const char* const other : {"list", "check-targets"})
    if (flag(options, other))
      throw usage_error(std::string("--") + other, "cannot be combined with --verify-counters");
  if (options.has("output"))
    throw usage_error("--output", "is for profiles, and --verify-counters measures none",
                      "use --json > FILE");
  const std::shared_ptr<cuda::Gpu> gpu = cuda::open_gpu_here();
  if (const std::string reason = cuda::why_no_cupti(); !reason.empty()) throw Error({}, reason);
  const auto plan = cuda::plan(wanted, gpu->facts(),
                               [&](const cuda::Kernel& kernel) { return gpu->support(kernel); });
  const InterruptGuard guard;
  ProgressLine progress(console, "counting");
  const double begin_s = steady_seconds();
  const cuda::Verification verification = verify_counters(
      *gpu, plan, cuda::ProfilerApi::newest, [] { return InterruptGuard::interrupted(); },
      [&](double done) {
        if (done > 0) progress.show(done, (steady_seconds() - begin_s) * (1 - done) / done);
      });
  progress.clear();
  if (flag(options, "json"))
    console.out << dump_json(verification_json(verification, gpu->facts()));
  else if (flag(options, "csv"))
    console.out << verification_csv(verification);
  else
    console.out << verification_text(verification, console.width);
  return judge_verification(verification);
}

}  // namespace ridgeline::cli
