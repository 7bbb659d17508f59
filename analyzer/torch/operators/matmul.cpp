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

// Products of a batch, added up: the batch is a part of k.
void addbmm(Call& call) {
  MatMul op = product_of(call.shape("batch1"), call.shape("batch2"));
  if (__builtin_mul_overflow(op.k, op.batch, &op.k)) Call::fail("its batch is too large");
  op.batch = 1;
  op.bias = true;
  call.order({"batch1", "batch2"});
  call.emit(op);
}

// Rows of [m k], each times the [k n] of its group (experts of a mixture). How many rows a group
// has depends on data; all together they are m.
void grouped_mm(Call& call) {
  const Tensor* left = call.tensor("self");
  const Shape& a = left != nullptr ? left->shape : call.shape("input");
  const Tensor* right = call.tensor("mat2");
  const Shape& b = right != nullptr ? right->shape : call.shape("weight");
  if (a.size() != 2 || b.size() != 3) {
    if (a.size() == 3 && b.size() == 3) return call.emit(product_of(a, b));
    fail_operands(a, b);
  }
  call.not_data("offs");
  call.emit(product_of(a, Shape{b[1], b[2]}));
}

// --- einsum

// A tensor with a letter for each dimension.
struct Lettered {
  std::string letters;
  Shape shape;
};

std::int64_t size_of(const Lettered& tensor, char letter) {
  const std::size_t at = tensor.letters.find(letter);
  return at == std::string::npos ? 1 : tensor.shape[at];
}

// Leading dots stand for as many dimensions as are left over; they are named by digits, from the
// last one, as they broadcast.
Lettered lettered(std::string text, const Shape& shape, std::string_view equation) {
  if (const std::size_t dots = text.find("..."); dots != std::string::npos) {
    text.erase(dots, 3);
    for (char name = '0'; text.size() < shape.size() && name <= '9'; ++name)
      text.insert(text.begin() + static_cast<std::ptrdiff_t>(dots), name);
  }
  if (text.size() != shape.size()) Call::fail("the equation " + quote(equation));
  return {std::move(text), shape};
}

// Shared and kept letters are the batch, shared and summed ones are k. Gives the result, whose
// letters are those that `kept` holds.
Lettered contract(Call& call, const Lettered& a, const Lettered& b, std::string_view kept) {
  Lettered result;
  MatMul op;
  const auto grow = [&](std::int64_t& size, std::int64_t by) {
    if (__builtin_mul_overflow(size, by, &size)) fail_operands(a.shape, b.shape);
  };
  std::int64_t elements = 1;
  const auto keep = [&](char letter, std::int64_t size) {
    if (result.letters.find(letter) != std::string::npos) return;
    result.letters += letter;
    result.shape.push_back(size);
    grow(elements, size);
  };
  for (const char letter : a.letters) {
    const bool is_shared = b.letters.find(letter) != std::string::npos;
    const std::int64_t size = std::max(size_of(a, letter), size_of(b, letter));
    if (!is_shared)
      grow(op.m, size);
    else if (kept.find(letter) != std::string_view::npos)
      grow(op.batch, size);
    else
      grow(op.k, size);
    if (!is_shared || kept.find(letter) != std::string_view::npos) keep(letter, size);
  }
  for (std::size_t i = 0; i < b.letters.size(); ++i)
    if (a.letters.find(b.letters[i]) == std::string::npos) {
      grow(op.n, b.shape[i]);
      keep(b.letters[i], b.shape[i]);
    }
  if (op.k == 1)
    call.emit(Elementwise{Function::multiply, elements});
  else
    call.emit(op);
  return result;
}

// Operands are contracted from left to right, as PyTorch does unless opt_einsum is installed.
void einsum(Call& call) {
  std::string equation;
  for (const char letter : call.text("equation", ""))
    if (letter != ' ') equation += letter;
  const std::vector<TensorRef> operands = call.tensors("tensors");
  if (operands.empty()) Call::fail("an einsum without operands");
  if (operands.size() == 1) {
    const std::int64_t count = element_count(call.at(operands[0]).shape);
    if (call.out_elements() == count) return call.emit(View{});
    return call.emit(Reduce{Reduction::sum, count, call.out_elements()});
  }
  const std::size_t arrow = equation.find("->");
  const std::vector<std::string_view> terms =
      split(std::string_view(equation).substr(0, arrow), ',');
  if (terms.size() != operands.size()) Call::fail("the equation " + quote(equation));
  std::vector<Lettered> tensors;
  for (std::size_t i = 0; i < terms.size(); ++i)
    tensors.push_back(lettered(std::string(terms[i]), call.at(operands[i]).shape, equation));
  std::string kept = "0123456789";
  if (arrow != std::string::npos) {
    kept += equation.substr(arrow + 2);
  } else {  // letters that occur once
    std::string all;
    for (const Lettered& tensor : tensors) all += tensor.letters;
    for (const char letter : all)
      if (std::count(all.begin(), all.end(), letter) == 1) kept += letter;
  }
  Lettered result = tensors.front();
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    std::string wanted = kept;
    for (std::size_t later = i + 1; later < tensors.size(); ++later)
      wanted += tensors[later].letters;
    result = contract(call, result, tensors[i], wanted);
  }
}

}  // namespace

std::span<const Operator> matmul_operators() {
  static constexpr Operator rows[] = {
      {"aten::linear", linear},
      {"aten::mm", mm},
      {"aten::bmm", mm},
      {"aten::matmul", matmul},
      {"aten::mv", mv},
      {"aten::dot", dot},
      {"aten::addmm", addmm},
      {"aten::_addmm_activation", addmm},
      {"aten::addmv", addmv},
      {"aten::baddbmm", baddbmm},
      {"aten::einsum", einsum},
      {"aten::linalg_matmul", matmul},
      {"aten::addbmm", addbmm},
      {"aten::_int_mm", mm},
      {"aten::_scaled_mm", mm},
      {"aten::_grouped_mm", grouped_mm},
      {"transformers::grouped_mm_fallback", grouped_mm},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
