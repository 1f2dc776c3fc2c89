#include "codegen/image/KernelImage.h"
#include <cstdio>

int main() {
  auto image = attnc::image::deserialize({});
  std::printf("runtime %s\n", image ? "reads nothing as an image" : "refuses an empty image");
  return 0;
}
