//===- InstructionFunctions.cpp - Assembly as device functions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Inline assembly of CUDA C++ differs from LLVM's in how it counts and in what it takes. An operand that is read and
// written is one ("+f"), predicates are no operands, and a constant ("n") may stand in an address: pieces of assembly
// that differ in an offset alone are one function with a template argument. Labels in braces are local, so that they
// need no number of their own (PTX ISA 5.4, "Identifiers").
//===----------------------------------------------------------------------===//

#include "codegen/nvrtc/InstructionFunctions.h"
#include "codegen/nvrtc/CudaTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attnc;
using namespace attnc::nvrtc;

/// Columns of a line.
static constexpr size_t lineWidth = 112;
/// Characters of a literal.
static constexpr size_t literalWidth = 100;

namespace {

/// Assembly of the IR, taken apart.
struct Assembly {
  explicit Assembly(LLVM::InlineAsmOp op);

  /// Reads the text: `pieces` counts those that have a number of their own.
  void readText(StringRef llvmText, int64_t &pieces);

  SmallVector<std::string> outputs; ///< constraints
  SmallVector<std::string> inputs;  ///< constraints of those that are no outputs as well
  SmallVector<Type> inputTypes;
  size_t tied = 0; ///< operands that come in in the place of outputs
  Type resultType; ///< of each output; null without any
  bool isArray = false, clobbersMemory = false;
  /// What LLVM's operand of that number is called.
  SmallVector<std::string> names;
  std::string text;
  std::optional<int64_t> number; ///< the template argument
  SmallVector<size_t> predicates;
};

} // namespace

Assembly::Assembly(LLVM::InlineAsmOp op) {
  SmallVector<StringRef> constraints;
  op.getConstraints().split(constraints, ',', -1, /*KeepEmpty=*/false);
  SmallVector<std::string> inputNames;
  size_t operand = 0;
  for (StringRef constraint : constraints) {
    if (constraint.starts_with("~")) {
      clobbersMemory |= constraint == "~{memory}";
    } else if (constraint.starts_with("=")) {
      outputs.push_back(constraint.str());
    } else if (llvm::isDigit(constraint.front())) {
      ++tied;
      ++operand;
    } else {
      inputs.push_back(constraint.str());
      inputTypes.push_back(op.getOperand(operand++).getType());
    }
  }
  if (op.getNumResults()) {
    resultType = op.getResult(0).getType();
    if (auto structure = dyn_cast<LLVM::LLVMStructType>(resultType)) {
      isArray = true;
      resultType = structure.getBody().front();
    }
  }
  for (size_t n = 0; n < outputs.size() + tied; ++n)
    names.push_back("%" + std::to_string(n));
  for (size_t n = 0; n < inputs.size(); ++n) {
    if (inputs[n] == "b")
      predicates.push_back(n);
    names.push_back((inputs[n] == "b" ? "condition" : "%") + std::to_string(outputs.size() + n));
  }
}

void Assembly::readText(StringRef rest, int64_t &pieces) {
  std::string constant = "%" + std::to_string(outputs.size() + inputs.size());
  while (!rest.empty()) {
    if (rest.consume_front("-1${:uid}")) {
      // Numbers below 0 that no other piece has.
      number = -1000 - pieces++;
      text += constant;
    } else if (rest.consume_front("_${:uid}") || rest.consume_front("${:uid}")) {
      continue;
    } else if (rest.consume_front("$")) {
      unsigned operand = 0;
      (void)rest.consumeInteger(10, operand);
      text += names[operand];
      // "[$1+512]".
      StringRef after = rest;
      int64_t offset = 0;
      if (after.consume_front("+") && !after.consumeInteger(10, offset) && after.starts_with("]") && !number) {
        number = offset;
        text += "+" + constant;
        rest = after;
      }
    } else {
      text += rest.front();
      rest = rest.drop_front();
    }
  }
  if (predicates.empty())
    return;
  std::string head = "{\n";
  for (size_t n : predicates) {
    std::string place = std::to_string(outputs.size() + n);
    head += ".reg .pred condition" + place + ";\nsetp.ne.u32 condition" + place + ", %" + place + ", 0;\n";
  }
  text = head + text + "\n}";
}

/// Words separated by ", ", broken into lines that begin with `indent`.
static std::string joinWrapped(ArrayRef<std::string> words, StringRef indent, size_t column) {
  std::string joined;
  for (auto [number, word] : llvm::enumerate(words)) {
    std::string next = word + (number + 1 < words.size() ? "," : "");
    if (column + next.size() + 1 > lineWidth) {
      joined += "\n" + indent.str();
      column = indent.size();
    } else if (number) {
      joined += " ";
      ++column;
    }
    joined += next;
    column += next.size();
  }
  return joined;
}

/// `text` with a backslash before each quote.
static std::string escapeQuotes(StringRef text) {
  std::string escaped;
  for (char letter : text)
    escaped += (letter == '"' ? std::string("\\") : std::string()) + letter;
  return escaped;
}

/// `text` as literals, one a line.
static std::string quoteLines(StringRef text) {
  SmallVector<StringRef> lines;
  text.rtrim('\n').split(lines, '\n');
  std::string quoted;
  for (auto [number, whole] : llvm::enumerate(lines)) {
    StringRef rest = whole;
    bool isLast = number + 1 == lines.size();
    do {
      // Long lists of registers go over several literals.
      size_t end = rest.size() > literalWidth ? rest.take_front(literalWidth).rfind(", ") : StringRef::npos;
      end = end == StringRef::npos ? rest.size() : end + 2;
      StringRef piece = rest.take_front(end);
      rest = rest.drop_front(end);
      quoted += (number || piece.data() != whole.data() ? "\n      \"" : "\"") + escapeQuotes(piece);
      quoted += rest.empty() && !isLast ? "\\n\"" : "\"";
    } while (!rest.empty());
  }
  return quoted;
}

/// A name for assembly that has none: its first instruction.
static std::string deriveName(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef instruction : lines) {
    instruction = instruction.trim();
    if (instruction.starts_with("@"))
      instruction = instruction.split(' ').second;
    if (instruction.empty() || instruction.starts_with("{") || instruction.starts_with(".reg"))
      continue;
    std::string name;
    for (char letter : instruction.take_until([](char c) { return c == ' ' || c == ';'; }))
      name += llvm::isAlnum(letter) ? letter : '_';
    if (StringRef(name).starts_with("_"))
      name.erase(0, 1);
    return name;
  }
  return "assembly";
}

static std::string typeOf(Type type) {
  return isa<LLVM::LLVMPointerType>(type) ? std::string("u64") : getTypeName(type);
}

InstructionCall InstructionFunctions::get(LLVM::InlineAsmOp op) {
  Assembly assembly(op);
  assembly.readText(op.getAsmString(), pieces);

  size_t outputs = assembly.outputs.size();
  std::string returned = "void", type = assembly.resultType ? typeOf(assembly.resultType) : "";
  SmallVector<std::string> parameters, outputList, inputList;
  if (assembly.isArray)
    parameters.push_back("Array<" + type + ", " + std::to_string(outputs) + "> &d");
  else if (outputs)
    returned = type;
  for (auto [number, constraint] : llvm::enumerate(assembly.outputs)) {
    StringRef letter = StringRef(constraint).drop_front();
    std::string place = assembly.isArray ? "d[" + std::to_string(number) + "]" : "d";
    // What comes in is read by the same register that goes out.
    outputList.push_back((assembly.tied ? "\"+" + letter.ltrim('&') : "\"=" + letter).str() + "\"(" + place + ")");
  }
  for (auto [number, constraint] : llvm::enumerate(assembly.inputs)) {
    std::string name = "a" + std::to_string(number);
    bool isPredicate = constraint == "b";
    parameters.push_back(typeOf(assembly.inputTypes[number]) + " " + name);
    inputList.push_back("\"" + (isPredicate ? "r" : constraint) + "\"(" + (isPredicate ? "u32(" + name + ")" : name) +
                        ")");
  }
  if (assembly.number)
    inputList.push_back("\"n\"(number)");

  std::string signature = "(" + joinWrapped(parameters, "    ", 60) + ") {\n";
  std::string body;
  if (outputs && !assembly.isArray)
    body += "  " + type + " d;\n";
  body += std::string("  asm") + (op.getHasSideEffects() ? " volatile(" : "(") + quoteLines(assembly.text);
  body += "\n      : " + joinWrapped(outputList, "        ", 8);
  body += "\n      : " + joinWrapped(inputList, "        ", 8);
  if (assembly.clobbersMemory)
    body += "\n      : \"memory\"";
  body += ");\n";
  if (outputs && !assembly.isArray)
    body += "  return d;\n";
  body += "}\n\n";

  auto given = dyn_cast<NameLoc>(op.getLoc());
  std::string name = given ? given.getName().str() : deriveName(assembly.text);
  std::string &known = written[name + returned + signature + body];
  if (known.empty()) {
    int64_t before = names[name]++;
    known = before ? name + std::to_string(before + 1) : name;
    if (assembly.number)
      text += "template <int number>\n";
    text += "ATTNC_DEVICE " + returned + " " + known + signature + body;
  }
  InstructionCall call{known, assembly.isArray ? static_cast<int64_t>(outputs) : 0, assembly.tied};
  if (assembly.number)
    call.function += "<" + std::to_string(*assembly.number) + ">";
  return call;
}
