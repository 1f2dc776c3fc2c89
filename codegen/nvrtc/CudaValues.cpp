//===- CudaValues.cpp - Values and their names ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/CudaWriter.h"
#include "codegen/nvrtc/Nvrtc.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvrtc;

/// Values of one type side by side that become an array, from this many on.
static constexpr size_t leastArray = 4;
/// An expression that is longer gets a name.
static constexpr size_t longestInline = 44;
/// How many operations after its own an expression may be printed: further on it gets a name, so that the order of the
/// IR, which the emitters have chosen, is that of the text.
static constexpr int farthestInline = 6;

Expr CudaWriter::use(Value value) {
  if (auto it = exprs.find(value); it != exprs.end())
    return it->second;
  // Constants have no place.
  Attribute number = findNumber(value);
  assert(number && "a value is used before it is printed");
  return writeConstant(number, value.getType());
}

std::string CudaWriter::call(const Twine &function, ValueRange arguments) {
  std::string list;
  for (Value argument : arguments)
    list += (list.empty() ? "" : ", ") + use(argument).text;
  return (function + "(" + list + ")").str();
}

/// The name that the IR has for `value` in its location, or an empty one. That of assembly is its instruction's.
static StringRef findName(Value value) {
  auto named = dyn_cast<NameLoc>(value.getLoc());
  return named && !value.getDefiningOp<LLVM::InlineAsmOp>() ? named.getName().getValue() : StringRef();
}

std::string CudaWriter::nameFor(Value value, StringRef otherwise) {
  StringRef given = findName(value);
  std::string name = llvm::isDigit(given.empty() ? otherwise.front() : given.front()) ? "_" : "";
  for (char letter : given.empty() ? otherwise : given)
    name += llvm::isAlnum(letter) || letter == '_' ? letter : '_';
  // Names without a meaning are numbered from the first on.
  return takeName(name, /*numbersFirst=*/given.empty());
}

/// `wanted`, or that with a number: a name of its own, which hides nothing that the function speaks of.
std::string CudaWriter::takeName(const std::string &wanted, bool numbersFirst) {
  int64_t &before = names[wanted];
  std::string name;
  do {
    name = numbersFirst || before ? wanted + std::to_string(before + (numbersFirst ? 0 : 1)) : wanted;
    ++before;
  } while (reserved.contains(name) || !taken.insert(name).second);
  return name;
}

/// Words that are no names of values: those of the language, and all that the device header speaks of.
static llvm::StringSet<> collectWords() {
  llvm::StringSet<> words;
  for (StringRef word :
       {"alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
        "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char8_t",
        "char16_t",    "char32_t", "class",      "co_await",  "co_return", "co_yield",     "compl",
        "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
        "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
        "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
        "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
        "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
        "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
        "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
        "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
        "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
        "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
        "xor_eq",      "fmod",     "fmodf",      "fmax",      "fmaxf",     "fmin",         "fminf",
        "fabs",        "fabsf",    "copysign",   "copysignf", "ceil",      "ceilf",        "floor",
        "floorf",      "trunc",    "truncf",     "round",     "roundf",    "rint",         "rintf",
        "sqrt",        "sqrtf"})
    words.insert(word);
  auto isOfWord = [](char letter) { return llvm::isAlnum(letter) || letter == '_'; };
  SmallVector<StringRef> lines;
  getDeviceHeader().split(lines, '\n');
  for (StringRef line : lines) {
    // Neither comments nor literals speak of anything.
    SmallVector<StringRef> parts;
    line.split("//").first.split(parts, '"');
    for (size_t part = 0; part < parts.size(); part += 2)
      for (StringRef rest = parts[part]; !rest.empty(); rest = rest.drop_while(isOfWord)) {
        rest = rest.drop_until(isOfWord);
        words.insert(rest.take_while(isOfWord));
      }
  }
  return words;
}

void CudaWriter::reserveNames(ModuleOp module) {
  static const llvm::StringSet<> words = collectWords();
  reserved = words;
  for (auto symbol : module.getOps<SymbolOpInterface>())
    reserved.insert(symbol.getName());
  module.walk([&](LLVM::InlineAsmOp op) {
    InstructionCall call = functions.get(op);
    reserved.insert(StringRef(call.function).take_until([](char letter) { return letter == '<'; }));
    calls[op] = std::move(call);
  });
}

/// What values of a type are called that have no name of their own.
static StringRef letterOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return "p";
  if (type.isInteger(1))
    return "is";
  return isa<FloatType>(type) ? "x" : "n";
}

/// The type of `value` and a name for it: "u32 n4".
std::string CudaWriter::declare(Value value) {
  std::string name = nameFor(value, letterOf(value.getType()));
  exprs[value] = {name};
  if (isa<LLVM::LLVMPointerType>(value.getType()))
    return pointee(value) + " *" + name;
  return getTypeName(value.getType()) + " " + name;
}

/// What those who use `pointer` take it to point to; empty where nobody says.
static std::string findPointee(Value pointer) {
  for (Operation *user : pointer.getUsers()) {
    auto element = dyn_cast<LLVM::GEPOp>(user);
    auto load = dyn_cast<LLVM::LoadOp>(user);
    Type type = element ? element.getElemType() : load ? load.getType() : Type();
    if (std::string found = type ? getTypeName(type) : ""; !found.empty())
      return found;
  }
  return "";
}

/// What `pointer` points to: what it is made from says, or else who uses it.
std::string CudaWriter::pointee(Value pointer) {
  if (auto it = pointees.find(pointer); it != pointees.end())
    return it->second;
  std::string found = findPointee(pointer);
  return pointees[pointer] = found.empty() ? "u8" : found;
}

/// `value` as a pointer to `type`.
std::string CudaWriter::pointer(Value value, const std::string &type) {
  if (pointee(value) == type)
    return use(value).text;
  return "((" + type + " *)" + use(value, Binding::Unary) + ")";
}

/// Whether `op` may be printed later: it has no effect, and reads nothing that changes. Parameters do not.
static bool isMovable(Operation &op) {
  if (isMemoryEffectFree(&op))
    return true;
  auto load = dyn_cast<LLVM::LoadOp>(op);
  auto element = load && !load.getVolatile_() ? load.getAddr().getDefiningOp<LLVM::GEPOp>() : LLVM::GEPOp();
  auto parameter = element ? dyn_cast<BlockArgument>(element.getBase()) : BlockArgument();
  auto function = parameter ? dyn_cast<LLVM::LLVMFuncOp>(parameter.getOwner()->getParentOp()) : LLVM::LLVMFuncOp();
  return function && function.getArgAttr(parameter.getArgNumber(), LLVM::LLVMDialect::getByValAttrName());
}

/// Whether the expression of `op` is printed where it is used, and not here.
bool CudaWriter::isInline(Operation &op, const Expr &expr) {
  Value result = op.getResult(0);
  // A name or a constant.
  if (expr.binding == Binding::Primary && llvm::all_of(expr.text, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return true;
  if (!result.hasOneUse() || !isMovable(op) || expr.text.size() > longestInline)
    return false;
  Operation *user = *result.user_begin();
  if (user->getBlock() != op.getBlock() || user->hasTrait<OpTrait::IsTerminator>() || !findName(result).empty())
    return false;
  Operation *next = &op;
  for (int distance = 0; distance < farthestInline && next; ++distance, next = next->getNextNode())
    if (next == user)
      return true;
  return false;
}

void CudaWriter::define(Operation &op, const Expr &expr) {
  Value result = op.getResult(0);
  if (result.use_empty() && isMovable(op))
    return;
  if (isInline(op, expr)) {
    exprs[result] = expr;
    return;
  }
  bool isPointer = isa<LLVM::LLVMPointerType>(result.getType());
  line((isPointer ? "" : "const ") + declare(result) + " = " + expr.text + ";");
}

//===----------------------------------------------------------------------===//
// Variables that control flow carries
//===----------------------------------------------------------------------===//

/// The values at the front of `values` that become one array, or one.
static size_t countAlike(ValueRange values) {
  size_t count = 1;
  while (count < values.size() && values[count].getType() == values.front().getType())
    ++count;
  bool isPointer = isa<LLVM::LLVMPointerType>(values.front().getType());
  return count >= leastArray && !isPointer ? count : 1;
}

/// Declares variables for `values`, and lets the values of the same number in `aliases` stand for the same variables.
void CudaWriter::declareCarried(ValueRange values, ArrayRef<ValueRange> aliases) {
  for (size_t first = 0; first < values.size();) {
    size_t count = countAlike(values.drop_front(first));
    Value value = values[first];
    if (count == 1) {
      // Inside of a loop, a pointer has users that say what it points to.
      if (isa<LLVM::LLVMPointerType>(value.getType()))
        for (ValueRange alias : aliases)
          if (std::string found = findPointee(alias[first]); !found.empty())
            pointees[value] = found;
      line(declare(value) + ";");
      for (ValueRange alias : aliases) {
        exprs.insert_or_assign(alias[first], Expr(exprs[value]));
        if (isa<LLVM::LLVMPointerType>(value.getType()))
          pointees.insert_or_assign(alias[first], std::string(pointees[value]));
      }
      ++first;
      continue;
    }
    std::string name = nameFor(value, value.getType().isF32() ? "tile" : "words");
    line("Array<" + getTypeName(value.getType()) + ", " + Twine(count) + "> " + name + ";");
    arrays[name] = static_cast<int64_t>(count);
    for (size_t n = 0; n < count; ++n, ++first) {
      auto index = static_cast<int64_t>(n);
      auto enter = [&](Value element) {
        exprs[element] = {name + "[" + std::to_string(n) + "]"};
        elements[element] = {name, index};
      };
      enter(values[first]);
      for (ValueRange alias : aliases)
        enter(alias[first]);
    }
  }
}

/// Whether `values` are all elements of one array, in order.
bool CudaWriter::isWholeArray(ValueRange values, std::string &array) {
  for (auto [number, value] : llvm::enumerate(values)) {
    auto it = elements.find(value);
    if (it == elements.end() || it->second.second != static_cast<int64_t>(number) ||
        (number && it->second.first != array))
      return false;
    array = it->second.first;
  }
  return !values.empty() && arrays.lookup(array) == static_cast<int64_t>(values.size());
}

/// The variable that an expression reads: "tile3" of "tile3[2]".
static StringRef variableOf(StringRef expr) {
  return expr.take_until([](char c) { return c == '['; });
}

/// Assigns `sources` to the variables of `targets`, all at once.
void CudaWriter::assign(ValueRange targets, ValueRange sources) {
  llvm::StringSet<> written;
  for (auto [target, source] : llvm::zip_equal(targets, sources))
    if (use(target).text != use(source).text)
      written.insert(variableOf(exprs[target].text));
  SmallVector<std::string> statements;
  // What an assignment before it would overwrite is read first.
  auto read = [&](const std::string &source) {
    if (!written.contains(variableOf(source)))
      return source;
    std::string name = takeName("before", /*numbersFirst=*/true);
    line("const auto " + name + " = " + source + ";");
    return name;
  };
  for (size_t first = 0; first < targets.size();) {
    std::string array;
    size_t count = countAlike(targets.drop_front(first));
    if (auto it = elements.find(targets[first]); count == 1 || it == elements.end()) {
      bool isPointer = isa<LLVM::LLVMPointerType>(targets[first].getType());
      std::string source = isPointer ? pointer(sources[first], pointee(targets[first])) : use(sources[first]).text;
      if (source != exprs[targets[first]].text)
        statements.push_back(exprs[targets[first]].text + " = " + read(source) + ";");
      ++first;
      continue;
    } else {
      std::string target = it->second.first;
      ValueRange part = sources.slice(first, count);
      std::string splat = use(part.front()).text;
      if (isWholeArray(part, array)) {
        if (array != target)
          statements.push_back(target + " = " + read(array) + ";");
      } else if (llvm::all_of(part, [&](Value value) { return use(value).text == splat; })) {
        statements.push_back(target + ".fill(" + read(splat) + ");");
      } else {
        for (size_t n = 0; n < count; ++n)
          if (std::string source = use(part[n]).text; source != exprs[targets[first + n]].text)
            statements.push_back(exprs[targets[first + n]].text + " = " + read(source) + ";");
      }
      first += count;
    }
  }
  for (const std::string &statement : statements)
    line(statement);
}
