# Writes a C++ file that holds the text of a header: cmake -DHEADER=... -DOUTPUT=... -P EmbedHeader.cmake
#
# One literal a line: compilers limit how long one may be.
file(READ "${HEADER}" text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE "${OUTPUT}" "#include \"codegen/nvrtc/Nvrtc.h\"

llvm::StringRef attnc::nvrtc::getDeviceHeader() {
  return
    \"${text}\";
}
")
