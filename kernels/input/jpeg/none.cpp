// JPEG of a build without a library for it: every call reports that.
#include "base/error.h"
#include "kernels/input/jpeg.h"

namespace ridgeline::input {
namespace {

[[noreturn]] void refuse() {
  throw Error("jpeg", why_no_jpeg(), "install libjpeg-dev and build again with RIDGELINE_JPEG=ON");
}

}  // namespace

std::string why_no_jpeg() { return "this ridgeline was built without a JPEG library"; }
std::string jpeg_library() { return {}; }

std::vector<std::uint8_t> encode_jpeg(const RgbImage&, int) { refuse(); }
void decode_jpeg(std::span<const std::uint8_t>, std::span<std::uint8_t>) { refuse(); }

}  // namespace ridgeline::input
