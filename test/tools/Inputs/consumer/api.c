#include <attnc/attnc.h>
#include <stdio.h>

int main(void) {
  printf("C library %s\n", attnc_version());
  return 0;
}
