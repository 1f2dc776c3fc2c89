# cmake -DINPUT=<file> -DOUTPUT=<header> -DNAME=<variable> -P EmbedText.cmake
# Writes a header that holds the text of a file as `inline constexpr char <variable>[]`.
file(READ "${INPUT}" text)
file(WRITE "${OUTPUT}" "#pragma once\n\ninline constexpr char ${NAME}[] = R\"text(${text})text\";\n")
