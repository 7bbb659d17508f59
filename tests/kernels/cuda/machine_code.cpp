// ELF images are found by magic number and machine type, whatever wraps them. An opcode is a family
// of twelve bits; its upper three give the form of the operands.
#include "tests/kernels/cuda/machine_code.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace ridgeline::testing {
namespace {

constexpr std::uint16_t cuda_machine = 190;
constexpr int instruction_bytes = 16;

template <class T>
T read(std::string_view bytes, std::size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T))
    throw std::runtime_error("GPU code: an image ends too early");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at > bytes.size() || bytes.size() - at < size)
    throw std::runtime_error("GPU code: a section lies outside of its image");
  return bytes.substr(at, size);
}

struct Opcode {
  int family;
  std::string_view name;
};
constexpr Opcode opcodes[] = {
    {0x002, "MOV"},
    {0x010, "IADD3"},
    {0x012, "LOP3"},
    {0x023, "FFMA"},
    {0x024, "IMAD"},
    {0x025, "IMAD.WIDE"},
    {0x026, "IDP"},
    {0x027, "IMAD.HI"},
    {0x02b, "DFMA"},
    {0x031, "HFMA2"},
    {0x03b, "LDSM"},
    {0x1ed, "STTM"},
    {0x036, "HMMA.884"},
    {0x037, "IMMA"},
    {0x03c, "HMMA"},
    {0x03f, "DMMA"},
    {0x07a, "QMMA"},
    {0x07f, "OMMA"},
    {0x118, "NOP"},
    {0x144, "CALL"},
    {0x147, "BRA"},
    {0x14d, "EXIT"},
    {0x181, "LDG"},
    {0x183, "LDL"},
    {0x184, "LDS"},
    {0x186, "STG"},
    {0x187, "STL"},
    {0x188, "STS"},
    {0x1f0, "HGMMA"},
    {0x1f1, "IGMMA"},
    {0x1f3, "QGMMA"},
    // Around products in tensor memory.
    {0x04c, "UVIRTCOUNT"},
    {0x11d, "BAR"},
    {0x15c, "BPT"},
    {0x1e3, "UTCATOMSWS"},
    {0x1e9, "UTCBAR"},
    {0x1ee, "LDTM"},
};

std::string_view name_of(int family, int architecture) {
  // The second half-precision pipe; on newer architectures this opcode adds 64-bit integers.
  if (family == 0x035 && architecture <= 90) return "HFMA2.MMA";
  const auto* const found = std::ranges::find(opcodes, family, &Opcode::family);
  return found == std::end(opcodes) ? "?" : found->name;
}

// tcgen05.mma: one opcode; the kind of the operands is in two other places.
constexpr int tcgen05_family = 0x1ea;
std::string_view name_of_tcgen05(std::uint64_t low, std::uint64_t high) {
  const bool four_bits = low >> 62 != 0;
  if (four_bits) return (high >> 8 & 3) == 0 ? "UTCOMMA" : "?";
  switch (high >> 8 & 3) {
    case 0:
      return "UTCHMMA";
    case 1:
      return "UTCIMMA";
    case 3:
      return "UTCQMMA";
    default:
      return "?";
  }
}

int access_bytes_of(int size_field) {
  constexpr int bytes[] = {1, 1, 2, 2, 4, 8, 16, 0};
  return bytes[size_field];
}

// Distance in bytes from the next instruction. From sm_90 on, its lowest bits are stored
// separately.
std::int64_t distance_of(std::uint64_t low, std::uint64_t high, int architecture) {
  const std::uint64_t bits = low >> 34 | high << 30;  // 48 bits, signed
  const std::int64_t value = static_cast<std::int64_t>(bits << 16) >> 16;
  if (architecture < 90) return value * 4;
  return ((value << 8) | static_cast<std::int64_t>(low >> 16 & 0xff)) * 4;
}

GpuInstruction decode(std::uint64_t low, std::uint64_t high, int index, int architecture) {
  GpuInstruction instruction;
  instruction.name = name_of(int(low & 0x1ff), architecture);
  instruction.form = int(low >> 9 & 7);
  if (int(low & 0x1ff) == tcgen05_family) {
    instruction.name = name_of_tcgen05(low, high);
    instruction.scaled = (low >> 48 & 0xff) != 0xff;  // the register with the place of the scales
  }
  // A scaled one has a form of its own; of four bits there are no others.
  if (instruction.name == "QMMA" || instruction.name == "OMMA")
    instruction.scaled = instruction.form == 2;
  instruction.never = (low >> 12 & 15) == 15;
  instruction.destination = int(low >> 16 & 0xff);
  instruction.a = int(low >> 24 & 0xff);
  instruction.b = int(low >> 32 & 0xff);
  instruction.c = int(high & 0xff);
  const std::string_view name = instruction.name;
  if (name == "LDG" || name == "STG" || name == "LDS" || name == "STS")
    instruction.access_bytes = access_bytes_of(int(high >> 9 & 7));
  if (name == "LDSM") instruction.access_bytes = 4 << (high >> 8 & 3);  // one, two or four matrices
  if (name == "BRA" || name == "CALL") {
    const std::int64_t distance = distance_of(low, high, architecture);
    instruction.target = index + 1 + int(distance / instruction_bytes);
  }
  return instruction;
}

GpuCode decode_all(std::string_view code, int architecture) {
  GpuCode result;
  for (std::size_t at = 0; at + instruction_bytes <= code.size(); at += instruction_bytes)
    result.push_back(decode(read<std::uint64_t>(code, at), read<std::uint64_t>(code, at + 8),
                            int(result.size()), architecture));
  return result;
}

GpuImage read_image(std::string_view image) {
  GpuImage result;
  const auto flags = read<std::uint32_t>(image, 48);
  // Version 8 of NVIDIA's ABI moved the architecture up by eight bits.
  result.architecture = int((read<std::uint8_t>(image, 8) >= 8 ? flags >> 8 : flags) & 0xff);
  const auto sections = read<std::uint64_t>(image, 40);
  const auto section_bytes = read<std::uint16_t>(image, 58);
  const auto count = read<std::uint16_t>(image, 60);
  const auto section = [&](unsigned index) {
    return part(image, sections + std::size_t{section_bytes} * index, 64);
  };
  const auto content = [&](std::string_view header) {
    return part(image, read<std::uint64_t>(header, 24), read<std::uint64_t>(header, 32));
  };
  const std::string_view names = content(section(read<std::uint16_t>(image, 62)));
  constexpr std::string_view prefix = ".text.";
  for (unsigned i = 1; i < count; ++i) {
    const std::string_view header = section(i);
    const auto offset = read<std::uint32_t>(header, 0);
    const std::string_view name = part(names, offset, names.size() - offset);
    const std::string text(name.substr(0, name.find('\0')));
    if (text.starts_with(prefix))
      result.kernels[text.substr(prefix.size())] = decode_all(content(header), result.architecture);
  }
  return result;
}

// --- PTX
// ------------------------------------------------------------------------------------------

std::string trimmed(const std::string& line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// From each label to a branch back to it, if no other loop lies within.
std::vector<std::vector<std::string>> ptx_loops(const std::vector<std::string>& body) {
  std::vector<std::pair<std::size_t, std::size_t>> loops;
  std::map<std::string, std::size_t> labels;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i].ends_with(':')) labels[body[i].substr(0, body[i].size() - 1)] = i;
    const auto branch = body[i].find("bra");
    if (branch == std::string::npos) continue;
    std::string target = body[i].substr(body[i].find_last_of(" \t") + 1);
    target.pop_back();  // the semicolon
    if (const auto label = labels.find(target); label != labels.end())
      loops.emplace_back(label->second, i);
  }
  std::vector<std::vector<std::string>> result;
  for (const auto& [first, last] : loops) {
    const bool innermost = std::ranges::none_of(loops, [&](const auto& other) {
      return other.first >= first && other.second <= last && other != std::pair(first, last);
    });
    if (innermost)
      result.emplace_back(body.begin() + std::ptrdiff_t(first),
                          body.begin() + std::ptrdiff_t(last) + 1);
  }
  return result;
}

PtxImage read_ptx(std::string_view text) {
  PtxImage image;
  std::istringstream lines{std::string(text)};
  std::string kernel;
  std::vector<std::string> body;
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.starts_with(".target sm_")) image.architecture = std::stoi(line.substr(11));
    constexpr std::string_view entry = ".visible .entry ";
    if (line.starts_with(entry)) kernel = line.substr(entry.size(), line.find('(') - entry.size());
    if (kernel.empty()) continue;
    body.push_back(line);
    if (line != "}") continue;
    image.loops[kernel] = ptx_loops(body);
    kernel.clear();
    body.clear();
  }
  return image;
}

}  // namespace

std::vector<GpuImage> read_gpu_images(std::string_view file) {
  std::vector<GpuImage> images;
  constexpr std::string_view magic =
      "\x7f"
      "ELF\x02\x01";
  for (std::size_t at = file.find(magic); at != std::string_view::npos;
       at = file.find(magic, at + 1)) {
    const std::string_view image = file.substr(at);
    if (image.size() > 64 && read<std::uint16_t>(image, 18) == cuda_machine)
      images.push_back(read_image(image));
  }
  return images;
}

std::vector<GpuLoop> innermost_gpu_loops(const GpuCode& kernel) {
  struct Span {
    int first, last;
  };
  std::vector<Span> spans;
  for (int i = 0; i < int(kernel.size()); ++i) {
    const GpuInstruction& instruction = kernel[std::size_t(i)];
    if (instruction.name == "BRA" && !instruction.never && instruction.target &&
        *instruction.target >= 0 && *instruction.target < i)
      spans.push_back({*instruction.target, i});
  }
  std::vector<GpuLoop> loops;
  for (const Span& span : spans) {
    const bool innermost = std::ranges::none_of(spans, [&](const Span& other) {
      return other.first >= span.first && other.last <= span.last &&
             (other.first != span.first || other.last != span.last);
    });
    if (!innermost) continue;
    GpuLoop loop{{kernel.begin() + span.first, kernel.begin() + span.last + 1}, span.last + 1};
    for (GpuInstruction& instruction : loop.code)
      if (instruction.target) *instruction.target -= span.first;
    loops.push_back(std::move(loop));
  }
  return loops;
}

std::vector<PtxImage> read_ptx_images(std::string_view file) {
  std::vector<PtxImage> images;
  constexpr std::string_view mark = "\n.version ";
  for (std::size_t at = file.find(mark); at != std::string_view::npos;
       at = file.find(mark, at + 1)) {
    const std::string_view text = file.substr(at);
    PtxImage image = read_ptx(text.substr(0, text.find('\0')));
    if (image.architecture != 0 && !image.loops.empty()) images.push_back(std::move(image));
  }
  return images;
}

}  // namespace ridgeline::testing
