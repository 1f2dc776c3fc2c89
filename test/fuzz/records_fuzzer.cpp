//===- records_fuzzer.cpp - Fuzzes files of records -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The input is a file of records, or, after a '!', the list that one holds: then the digest is made to fit, so that
// what lies behind it is reached. What is read must be written and read again as it is, and its schedules may be
// refused by a kernel, but not crash it.
//===----------------------------------------------------------------------===//

#include "Require.h"
#include "runtime/jit/CompileTarget.h"
#include "runtime/tune/Choice.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace attnc;
using image::Result;
using test::require;
using tune::Record;
using tune::RecordList;

/// Longer inputs teach nothing new.
static constexpr size_t maxInputBytes = 16384;

/// A file whose records are `list`, with the digest of their text; empty where that is no JSON.
static std::string makeFile(llvm::StringRef list) {
  llvm::Expected<llvm::json::Value> records = llvm::json::parse(list);
  if (!records) {
    llvm::consumeError(records.takeError());
    return "";
  }
  std::string text = llvm::formatv("{0}", *records).str();
  std::string digest = cache::toHex(cache::blake3({reinterpret_cast<const uint8_t *>(text.data()), text.size()}));
  return llvm::formatv(R"({{"attnc_records": 1, "device": "any", "digest": "{0}", "records": {1}})", digest, text)
      .str();
}

/// Has the kernel of a spec go by a record, as if it were of this very kernel.
static void useRecord(Record record) {
  static const char spec[] = R"mlir(
    func.func @f(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
      %o = attn.forward %q, %q, %q : (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
      return %o : tensor<?x?x2x8xf32>
    })mlir";
  std::string diagnostics;
  llvm::raw_string_ostream os(diagnostics);
  jit::Session session(os);
  require(static_cast<bool>(session.openText(spec, "spec")));
  Result<attn::KernelFunction> kernel = session.findKernel();
  require(static_cast<bool>(kernel));
  mlir::Attribute target = jit::targetOrHost(&session.context(), {});
  record.kernel = tune::digestOf(*kernel);
  record.target = jit::getTargetName(target);
  tune::RecordBook book("", "", [](const std::string &) {});
  book.keep("here", record);
  tune::ChoiceRequest request;
  request.book = &book;
  request.device = "here";
  request.remark = [](const std::string &text) { require(!text.empty()); };
  require(static_cast<bool>(tune::chooseSchedules(session, *kernel, target, request)));
  require(diagnostics.empty());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > maxInputBytes)
    return 0;
  llvm::StringRef input(reinterpret_cast<const char *>(data), size);
  std::string file = input.consume_front("!") ? makeFile(input) : input.str();
  Result<RecordList> read = tune::readRecords(file);
  if (!read) {
    require(!read.message().empty());
    return 0;
  }
  Result<RecordList> again = tune::readRecords(tune::writeRecords(*read));
  require(again && again->records.size() == read->records.size() && again->device == read->device);
  for (const Record &record : read->records)
    useRecord(record);
  return 0;
}
