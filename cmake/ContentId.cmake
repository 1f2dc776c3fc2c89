# cmake -DFILES=<list file> -DOUTPUT=<file> [-DTEMPLATE=<file>] -P ContentId.cmake
# Writes the SHA-256 of what the files named in <list file>, one a line, hold: alone, or in the place of @content_id@ in
# a template. The same files give the same text, wherever they are.
file(STRINGS "${FILES}" files)
set(hashes "")
foreach(file ${files})
  file(SHA256 "${file}" hash)
  get_filename_component(name "${file}" NAME)
  string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 content_id "${hashes}")
if(TEMPLATE)
  configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
else()
  file(WRITE "${OUTPUT}" "${content_id}\n")
endif()
