// libjpeg's calls. Its errors leave by longjmp, as its manual has it, so functions that set the
// jump hold no objects with destructors.
#include <cstdio>
// jpeglib.h needs what cstdio declares.
#include <jpeglib.h>

#include <csetjmp>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "kernels/input/jpeg.h"

namespace ridgeline::input {
namespace {

#define RIDGELINE_TEXT_OF(token) #token
#define RIDGELINE_TEXT(macro) RIDGELINE_TEXT_OF(macro)

struct Faults {
  jpeg_error_mgr manager;  // first: the library hands out a pointer to it
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
};

void leave(j_common_ptr info) {
  auto* const faults = reinterpret_cast<Faults*>(info->err);
  info->err->format_message(info, faults->text);
  std::longjmp(faults->jump, 1);
}

void say_nothing(j_common_ptr) {}

void prepare(Faults& faults) {
  jpeg_std_error(&faults.manager);
  faults.manager.error_exit = leave;
  faults.manager.output_message = say_nothing;
}

// `data` is the library's own allocation, also after a fault.
bool encode(const RgbImage& image, int quality, Faults& faults, unsigned char*& data,
            unsigned long& bytes) {
  jpeg_compress_struct info;
  prepare(faults);
  info.err = &faults.manager;
  if (setjmp(faults.jump) != 0) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &data, &bytes);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(image.pixels.data()) +
                   static_cast<std::size_t>(info.next_scanline) * 3 * info.image_width;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

bool decode(std::span<const std::uint8_t> encoded, std::span<std::uint8_t> pixels, Faults& faults) {
  jpeg_decompress_struct info;
  prepare(faults);
  info.err = &faults.manager;
  if (setjmp(faults.jump) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, encoded.data(), static_cast<unsigned long>(encoded.size()));
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  const std::size_t row_bytes = std::size_t{3} * info.output_width;
  if (pixels.size() < row_bytes * info.output_height) {
    std::snprintf(faults.text, sizeof faults.text, "the image is larger than its buffer");
    jpeg_destroy_decompress(&info);
    return false;
  }
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data() + info.output_scanline * row_bytes;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

}  // namespace

std::string why_no_jpeg() { return {}; }

std::string jpeg_library() {
#ifdef LIBJPEG_TURBO_VERSION
  return "libjpeg-turbo " RIDGELINE_TEXT(LIBJPEG_TURBO_VERSION);
#else
  return "libjpeg " RIDGELINE_TEXT(JPEG_LIB_VERSION);
#endif
}

std::vector<std::uint8_t> encode_jpeg(const RgbImage& image, int quality) {
  Faults faults;
  unsigned char* data = nullptr;
  unsigned long bytes = 0;
  const bool encoded = encode(image, quality, faults, data, bytes);
  const std::unique_ptr<unsigned char, decltype(&std::free)> owner(data, &std::free);
  if (!encoded) throw Error("jpeg", faults.text);
  return {data, data + bytes};
}

void decode_jpeg(std::span<const std::uint8_t> encoded, std::span<std::uint8_t> pixels) {
  Faults faults;
  if (!decode(encoded, pixels, faults)) throw Error("jpeg", faults.text);
}

}  // namespace ridgeline::input
