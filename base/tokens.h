// The closed sets of words that rows are made of, and their spelling in files and text.
// Standard library only: the kernels use it where nothing else is linked.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace ridgeline {

enum class Processor { cpu, gpu, dla };
enum class Unit { scalar, vector, matrix };
enum class DType { fp64, fp32, tf32, fp16, bf16, fp8, fp4, int32, int16, int8, int4 };
enum class Level { l1, shared, l2, l3, dram };
enum class Direction { read, write, nt_write, copy, update, triad, random };
enum class Source { measured, datasheet, fitted, predicted, assumed };
enum class Status { ok, unsupported, throttled, impossible };

// One row per token: the spelling is part of every JSON Schema in docs/schemas.
template <class E>
struct TokenTable;

template <>
struct TokenTable<Processor> {
  static constexpr std::string_view noun = "processor";
  static constexpr std::array<std::pair<Processor, std::string_view>, 3> rows{
      {{Processor::cpu, "cpu"}, {Processor::gpu, "gpu"}, {Processor::dla, "dla"}}};
};

template <>
struct TokenTable<Unit> {
  static constexpr std::string_view noun = "unit";
  static constexpr std::array<std::pair<Unit, std::string_view>, 3> rows{
      {{Unit::scalar, "scalar"}, {Unit::vector, "vector"}, {Unit::matrix, "matrix"}}};
};

template <>
struct TokenTable<DType> {
  static constexpr std::string_view noun = "dtype";
  static constexpr std::array<std::pair<DType, std::string_view>, 11> rows{{{DType::fp64, "fp64"},
                                                                            {DType::fp32, "fp32"},
                                                                            {DType::tf32, "tf32"},
                                                                            {DType::fp16, "fp16"},
                                                                            {DType::bf16, "bf16"},
                                                                            {DType::fp8, "fp8"},
                                                                            {DType::fp4, "fp4"},
                                                                            {DType::int32, "int32"},
                                                                            {DType::int16, "int16"},
                                                                            {DType::int8, "int8"},
                                                                            {DType::int4, "int4"}}};
};

template <>
struct TokenTable<Level> {
  static constexpr std::string_view noun = "memory level";
  static constexpr std::array<std::pair<Level, std::string_view>, 5> rows{
      {{Level::l1, "L1"},
       {Level::shared, "shared"},
       {Level::l2, "L2"},
       {Level::l3, "L3"},
       {Level::dram, "DRAM"}}};
};

template <>
struct TokenTable<Direction> {
  static constexpr std::string_view noun = "direction";
  static constexpr std::array<std::pair<Direction, std::string_view>, 7> rows{
      {{Direction::read, "read"},
       {Direction::write, "write"},
       {Direction::nt_write, "nt_write"},
       {Direction::copy, "copy"},
       {Direction::update, "update"},
       {Direction::triad, "triad"},
       {Direction::random, "random"}}};
};

template <>
struct TokenTable<Source> {
  static constexpr std::string_view noun = "source";
  static constexpr std::array<std::pair<Source, std::string_view>, 5> rows{
      {{Source::measured, "measured"},
       {Source::datasheet, "datasheet"},
       {Source::fitted, "fitted"},
       {Source::predicted, "predicted"},
       {Source::assumed, "assumed"}}};
};

template <>
struct TokenTable<Status> {
  static constexpr std::string_view noun = "status";
  static constexpr std::array<std::pair<Status, std::string_view>, 4> rows{
      {{Status::ok, "ok"},
       {Status::unsupported, "unsupported"},
       {Status::throttled, "throttled"},
       {Status::impossible, "impossible"}}};
};

template <class E>
constexpr std::string_view to_string(E token) {
  for (const auto& [value, text] : TokenTable<E>::rows)
    if (value == token) return text;
  return "?";
}

template <class E>
constexpr std::optional<E> parse_token(std::string_view text) {
  for (const auto& [value, spelling] : TokenTable<E>::rows)
    if (spelling == text) return value;
  return std::nullopt;
}

// Integer dtypes count operations (OP), the others floating-point operations (FLOP).
constexpr bool is_integer(DType dtype) {
  return dtype == DType::int32 || dtype == DType::int16 || dtype == DType::int8 ||
         dtype == DType::int4;
}

}  // namespace ridgeline
