// The programs write into a folder of their own: what they print may be cut, a file is not.
#include "plots/renderers/raster.h"

#include <fmt/format.h>

#include "base/child_process.h"
#include "base/error.h"
#include "base/temporary_folder.h"
#include "base/text_file.h"
#include "plots/renderers/gnuplot.h"
#include "plots/renderers/svg.h"
#include "plots/renderers/svg_layout.h"

namespace ridgeline {
namespace {

constexpr double limit_s = 60;
constexpr int dots_per_pixel = 2;  // of a PNG: sharp in print and on dense screens

void run_drawing(const std::string& option, ChildRequest request) {
  const std::string program = request.command.front();
  request.is_captured = true;
  request.limit_s = limit_s;
  request.environment["SOURCE_DATE_EPOCH"] = "0";  // the same picture is the same bytes
  const ChildResult result = run_child(request);
  if (result.exit_code == 0 && !result.timed_out) return;
  const std::string said = result.output.substr(0, result.output.find('\n'));
  throw Error(option, program + (result.timed_out ? " took too long" : " failed: " + said),
              "write --svg and convert it with another program");
}

std::string drawn_by_rsvg(const Figure& figure, const std::string& format) {
  const TemporaryFolder folder("picture");
  const std::string path = folder.file("figure." + format);
  ChildRequest request;
  request.command = {"rsvg-convert", "--format", format, "--output", path};
  if (format == "png") {
    request.command.push_back("--zoom");
    request.command.push_back(std::to_string(dots_per_pixel));
  }
  request.input = svg(figure);
  run_drawing("--" + format, std::move(request));
  return read_text_file(path);
}

std::string drawn_by_gnuplot(const Figure& figure, const std::string& format) {
  const TemporaryFolder folder("picture");
  const std::string path = folder.file("figure." + format);
  const SvgLayout layout = svg_layout(figure);
  const std::string terminal =
      format == "png" ? fmt::format("pngcairo size {:.0f},{:.0f} fontscale 1",
                                    layout.width * dots_per_pixel, layout.height * dots_per_pixel)
                      : fmt::format("pdfcairo size {:.3f}in,{:.3f}in fontscale 0.75",
                                    layout.width / 96, layout.height / 96);
  ChildRequest request;
  request.command = {"gnuplot"};
  request.input = fmt::format(
      "chosen = 1\nset terminal {} noenhanced font 'Helvetica,11'\n"
      "set output '{}'\n{}set output\n",
      terminal, path, gnuplot_script(figure));
  run_drawing("--" + format, std::move(request));
  return read_text_file(path);
}

std::string drawn(const Figure& figure, const std::string& format) {
  if (find_in_path("rsvg-convert")) return drawn_by_rsvg(figure, format);
  if (find_in_path("gnuplot")) return drawn_by_gnuplot(figure, format);
  throw Error("--" + format, "neither rsvg-convert nor gnuplot is on PATH",
              "install librsvg2-bin or gnuplot-nox, or write --svg", ExitCode::incomplete);
}

}  // namespace

std::string png(const Figure& figure) { return drawn(figure, "png"); }
std::string pdf(const Figure& figure) { return drawn(figure, "pdf"); }

}  // namespace ridgeline
