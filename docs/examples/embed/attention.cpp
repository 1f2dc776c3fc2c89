// From the text of a spec to a launched kernel, in C++: kernels are compiled in the background, and a spec at fault is
// shown with its line. docs/embedding.md goes through it.

#include <attnc/attnc.hpp>

#include <cstdio>
#include <string>
#include <vector>

/// Attention with a window of `left` keys before each query.
static std::string makeSpec(int left) {
  std::string tensor = "tensor<?x?x2x32xf32>";
  return "func.func @window(%q: " + tensor + ", %k: " + tensor + ", %v: " + tensor + ") -> " + tensor +
         " {\n"
         "  %o = attn.forward %q, %k, %v\n"
         "    mask (%b, %h, %i, %j) {\n"
         "      %keep = attn.window %i, %j left(" +
         std::to_string(left) +
         ") right(0)\n"
         "      attn.yield %keep : i1\n"
         "    }\n"
         "    : (" +
         tensor + ", " + tensor + ", " + tensor + ") -> " + tensor +
         "\n"
         "  return %o : " +
         tensor + "\n}\n";
}

/// Prints what went wrong.
static int report(const attnc::Status &status) {
  std::fputs(status.details(), stderr);
  return 1;
}

int main() {
  attnc::Result<attnc::Context> context = attnc::Context::create();
  if (!context)
    return report(context.error());

  // A fault of a spec is a status: nothing ends the program.
  attnc::Result<attnc::Spec> bad = context->readSpec(makeSpec(-1), "bad.mlir");
  std::printf("%s", bad.error().details());

  std::vector<attnc::Compilation> compilations;
  for (int left : {0, 3}) {
    attnc::Result<attnc::Spec> spec = context->readSpec(makeSpec(left), "window.mlir");
    if (!spec)
      return report(spec.error());
    attnc::Result<attnc::Compilation> compilation = context->start(*spec, "cpu");
    if (!compilation)
      return report(compilation.error());
    compilations.push_back(std::move(*compilation));
  }

  // Meanwhile the program does something else.
  const std::vector<int64_t> sizes = {1, 16, 2, 32};
  std::vector<float> q(16 * 64), k(16 * 64), v(16 * 64), out(16 * 64);
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(i / 64);

  for (const attnc::Compilation &compilation : compilations) {
    attnc::Result<attnc::Kernel> kernel = compilation.wait();
    if (!kernel)
      return report(kernel.error());
    attnc::Status status = kernel->launch({{q.data(), ATTNC_F32, sizes},
                                           {k.data(), ATTNC_F32, sizes},
                                           {v.data(), ATTNC_F32, sizes},
                                           {out.data(), ATTNC_F32, sizes}});
    if (!status)
      return report(status);
    std::printf("row 15: %g\n", static_cast<double>(out[15 * 64]));
  }
  return 0;
}
