// Matrix products: linear layers, mm and its relatives, einsum of two operands.
#include <algorithm>
#include <string>

#include "analyzer/torch/operators/families.h"
#include "base/text.h"

namespace ridgeline::pytorch {
namespace {

[[noreturn]] void fail_operands(const Shape& a, const Shape& b) {
  Call::fail("its operands are " + to_string(a) + " and " + to_string(b));
}

// [… m k] · [… k n]. A second operand that the batch shares makes the batch a part of m.
MatMul product_of(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) fail_operands(a, b);
  MatMul op;
  op.k = a.back();
  op.m = a.size() == 1 ? 1 : a[a.size() - 2];
  op.n = b.size() == 1 ? 1 : b.back();
  if ((b.size() == 1 ? b[0] : b[b.size() - 2]) != op.k) fail_operands(a, b);
  const Shape batch_a(a.begin(), a.end() - std::min<std::ptrdiff_t>(2, std::ssize(a)));
  const Shape batch_b(b.begin(), b.end() - std::min<std::ptrdiff_t>(2, std::ssize(b)));
  const auto batch = broadcast(batch_a, batch_b);
  const auto count = batch ? checked_element_count(*batch) : std::nullopt;
  if (!count) fail_operands(a, b);
  op.batch = *count;
  if (element_count(batch_b) == 1) {
    if (__builtin_mul_overflow(op.m, op.batch, &op.m)) fail_operands(a, b);
    op.batch = 1;
  }
  return op;
}

// weight is [out, in].
void linear(Call& call) {
  const Shape& data = call.shape("input");
  Shape weight = call.shape("weight");
  if (weight.size() == 1) weight.insert(weight.begin(), 1);
  if (weight.size() != 2) fail_operands(data, weight);
  std::swap(weight[0], weight[1]);
  Shape rows = data;
  if (rows.size() > 2)
    rows = {element_count(rows) / std::max<std::int64_t>(1, rows.back()), rows.back()};
  MatMul op = product_of(rows, weight);
  op.bias = call.tensor("bias") != nullptr;
  call.order({"input", "weight", "bias"});
  call.emit(op);
}

void product(Call& call, std::string_view left, std::string_view right, std::string_view bias) {
  MatMul op = product_of(call.shape(left), call.shape(right));
  op.bias = !bias.empty() && call.tensor(bias) != nullptr && call.real("beta", 1) != 0;
  op.scalings =
      (call.real("alpha", 1) != 1 ? 1 : 0) + (op.bias && call.real("beta", 1) != 1 ? 1 : 0);
  call.order({left, right});
  call.emit(op);
}

void mm(Call& call) { product(call, "self", "mat2", ""); }
void matmul(Call& call) { product(call, "self", "other", ""); }
void mv(Call& call) { product(call, "self", "vec", ""); }
void dot(Call& call) { product(call, "self", "tensor", ""); }
void addmm(Call& call) { product(call, "mat1", "mat2", "self"); }
void addmv(Call& call) { product(call, "mat", "vec", "self"); }
void baddbmm(Call& call) { product(call, "batch1", "batch2", "self"); }

// Dimensions by their letters: shared and kept are the batch, shared and summed are k.
void einsum(Call& call) {
  std::string equation;
  for (const char letter : call.text("equation", ""))
    if (letter != ' ') equation += letter;
  const std::vector<TensorRef> operands = call.tensors("tensors");
  const std::size_t arrow = equation.find("->");
  const std::size_t comma = equation.find(',');
  if (operands.size() == 1) {
    if (call.out_elements() == element_count(call.at(operands[0]).shape)) return call.emit(View{});
    return call.emit(
        Reduce{Reduction::sum, element_count(call.at(operands[0]).shape), call.out_elements()});
  }
  if (operands.size() != 2 || comma == std::string::npos || operands[0].id == no_index ||
      operands[1].id == no_index)
    Call::fail("an einsum of more than two operands");
  const std::string left = equation.substr(0, comma);
  const std::string right = equation.substr(
      comma + 1, arrow == std::string::npos ? std::string::npos : arrow - comma - 1);
  const Shape& a = call.at(operands[0]).shape;
  const Shape& b = call.at(operands[1]).shape;
  // Leading dots stand for as many dimensions as are left over; they are part of the batch.
  const auto letters = [](std::string text, std::size_t rank) {
    const std::size_t dots = text.find("...");
    if (dots == std::string::npos) return text;
    text.erase(dots, 3);
    char name = '0';
    for (; text.size() < rank && name <= '9'; ++name)
      text.insert(text.begin() + static_cast<std::ptrdiff_t>(dots), name);
    return text;
  };
  const std::string l = letters(left, a.size()), r = letters(right, b.size());
  if (l.size() != a.size() || r.size() != b.size()) Call::fail("the equation " + quote(equation));
  std::string kept = arrow == std::string::npos ? std::string() : equation.substr(arrow + 2);
  if (arrow == std::string::npos)
    for (const char letter : l + r)
      if (std::count(l.begin(), l.end(), letter) + std::count(r.begin(), r.end(), letter) == 1)
        kept += letter;
  MatMul op;
  const auto grow = [&](std::int64_t& size, std::int64_t by) {
    if (__builtin_mul_overflow(size, by, &size)) fail_operands(a, b);
  };
  for (std::size_t i = 0; i < l.size(); ++i) {
    const std::size_t other = r.find(l[i]);
    const bool stays = kept.find(l[i]) != std::string::npos || (l[i] >= '0' && l[i] <= '9');
    if (other == std::string::npos)
      grow(op.m, a[i]);
    else if (stays)
      grow(op.batch, std::max(a[i], b[other]));
    else
      grow(op.k, a[i]);
  }
  for (std::size_t i = 0; i < r.size(); ++i)
    if (l.find(r[i]) == std::string::npos) grow(op.n, b[i]);
  if (op.k == 1) return call.elementwise(Function::multiply);
  call.emit(op);
}

}  // namespace

std::span<const Operator> matmul_operators() {
  static constexpr Operator rows[] = {
      {"aten::linear", linear}, {"aten::mm", mm},
      {"aten::bmm", mm},        {"aten::matmul", matmul},
      {"aten::mv", mv},         {"aten::dot", dot},
      {"aten::addmm", addmm},   {"aten::_addmm_activation", addmm},
      {"aten::addmv", addmv},   {"aten::baddbmm", baddbmm},
      {"aten::einsum", einsum}, {"aten::linalg_matmul", matmul},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
