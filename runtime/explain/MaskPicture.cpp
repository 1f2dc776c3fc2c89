//===- MaskPicture.cpp - Tile maps for terminals and as SVG -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//===----------------------------------------------------------------------===//

#include "runtime/explain/MaskPicture.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace attnc::explain;
using llvm::raw_ostream;
using llvm::StringRef;

namespace {

/// How a class of tiles looks.
struct Style {
  StringRef name, symbol, fill;
  raw_ostream::Colors colour;
};

constexpr TileClass classes[] = {TileClass::Empty, TileClass::Partial, TileClass::Full};

} // namespace

static const Style &styleOf(TileClass kind) {
  static const Style styles[] = {{"empty", "·", "#eef0f3", raw_ostream::BRIGHT_BLACK},
                                 {"partial", "▒", "#f2a65a", raw_ostream::YELLOW},
                                 {"full", "█", "#2f6690", raw_ostream::BLUE}};
  return styles[static_cast<unsigned>(kind)];
}

StringRef attnc::explain::nameOf(TileClass kind) { return styleOf(kind).name; }

/// "empty 12 (25.0%)" for each class.
static std::string describe(const MaskMap &map, TileClass kind) {
  std::string text;
  int64_t count = map.count(kind);
  double percent = map.tiles.empty() ? 0 : 100.0 * static_cast<double>(count) / static_cast<double>(map.tiles.size());
  llvm::raw_string_ostream(text) << nameOf(kind) << ' ' << count << llvm::format(" (%.1f%%)", percent);
  return text;
}

/// The class of a block of tiles: that of all of them, or partial.
static TileClass summarise(const MaskMap &map, int64_t row, int64_t rowEnd, int64_t column, int64_t columnEnd) {
  TileClass first = map.at(row, column);
  for (int64_t r = row; r < rowEnd; ++r)
    for (int64_t c = column; c < columnEnd; ++c)
      if (map.at(r, c) != first)
        return TileClass::Partial;
  return first;
}

void attnc::explain::drawText(const MaskMap &map, unsigned width, unsigned height, raw_ostream &os) {
  if (map.tiles.empty()) {
    os << "  no tiles\n";
    return;
  }
  int64_t down = std::min<int64_t>(map.rows, std::max(height, 1U));
  int64_t across = std::min<int64_t>(map.columns, std::max(width, 1U));
  constexpr unsigned margin = 9;
  os.indent(margin) << "keys 0 to " << map.keys << ", one column "
                    << llvm::divideCeil(map.columns, across) * map.keyTile
                    << (down < map.rows || across < map.columns ? " (several tiles share a cell)\n" : "\n");
  for (int64_t row = 0; row < down; ++row) {
    int64_t begin = row * map.rows / down, end = (row + 1) * map.rows / down;
    os << llvm::right_justify(std::to_string(begin * map.queryTile), margin - 2) << "  ";
    std::optional<TileClass> previous;
    for (int64_t column = 0; column < across; ++column) {
      TileClass kind = summarise(map, begin, end, column * map.columns / across, (column + 1) * map.columns / across);
      if (previous != kind)
        os.changeColor(styleOf(kind).colour);
      os << styleOf(kind).symbol;
      previous = kind;
    }
    os.resetColor() << '\n';
  }
  os.indent(margin);
  for (TileClass kind : classes) {
    os.changeColor(styleOf(kind).colour) << styleOf(kind).symbol;
    os.resetColor() << ' ' << describe(map, kind) << "   ";
  }
  os << "of " << map.tiles.size() << " tiles, " << map.queryTile << " queries x " << map.keyTile << " keys\n";
}

/// `text` as the content of an XML element.
static std::string escape(StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printHTMLEscaped(text, os);
  return escaped;
}

void attnc::explain::drawSvg(const MaskMap &map, StringRef title, raw_ostream &os) {
  constexpr double left = 78, top = 64, side = 560;
  double scale = side / static_cast<double>(std::max<int64_t>({map.queries, map.keys, 1}));
  double width = static_cast<double>(map.keys) * scale, height = static_cast<double>(map.queries) * scale;
  double right = left + std::max(width, 420.0), bottom = top + height;
  os << llvm::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" ", right + 32, bottom + 92)
     << "font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#22303c\">\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
     << llvm::format("<text x=\"%.1f\" y=\"26\" font-size=\"16\" font-weight=\"600\">", left) << escape(title)
     << "</text>\n"
     << llvm::format("<g transform=\"translate(%.1f %.1f)\" shape-rendering=\"crispEdges\">\n", left, top);
  // One rectangle for each run of equal tiles in a row; ground colour first.
  os << llvm::format("<rect width=\"%.2f\" height=\"%.2f\" fill=\"", width, height) << styleOf(TileClass::Empty).fill
     << "\"/>\n";
  for (int64_t row = 0; row < map.rows; ++row) {
    double y = static_cast<double>(row * map.queryTile) * scale;
    double h = static_cast<double>(std::min((row + 1) * map.queryTile, map.queries)) * scale - y;
    for (int64_t column = 0, end = 0; column < map.columns; column = end) {
      TileClass kind = map.at(row, column);
      for (end = column + 1; end < map.columns && map.at(row, end) == kind;)
        ++end;
      if (kind == TileClass::Empty)
        continue;
      double x = static_cast<double>(column * map.keyTile) * scale;
      double w = static_cast<double>(std::min(end * map.keyTile, map.keys)) * scale - x;
      os << llvm::format("<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"", x, y, w, h)
         << styleOf(kind).fill << "\"/>\n";
    }
  }
  os << llvm::format("<rect width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"#22303c\"/>\n</g>\n", width, height);
  // Axes: first, middle and last position.
  for (int64_t part = 0; part <= 2; ++part) {
    int64_t key = map.keys * part / 2, query = map.queries * part / 2;
    os << llvm::format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%lld</text>\n",
                       left + static_cast<double>(key) * scale, top - 8, static_cast<long long>(key))
       << llvm::format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%lld</text>\n", left - 8,
                       top + static_cast<double>(query) * scale + 4, static_cast<long long>(query));
  }
  os << llvm::format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">keys</text>\n", left + width / 4, top - 8)
     << llvm::format("<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">queries</text>\n",
                     left - 12, top + height / 4);
  // Legend.
  double x = left;
  for (TileClass kind : classes) {
    std::string label = describe(map, kind);
    os << llvm::format("<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"14\" stroke=\"#22303c\" fill=\"", x,
                       bottom + 26)
       << styleOf(kind).fill << "\"/>\n"
       << llvm::format("<text x=\"%.1f\" y=\"%.1f\">", x + 20, bottom + 38) << label << "</text>\n";
    x += 44 + 7.2 * static_cast<double>(label.size());
  }
  os << llvm::format("<text x=\"%.1f\" y=\"%.1f\" fill=\"#5b6b79\">", left, bottom + 66) << map.tiles.size()
     << " tiles of " << map.queryTile << " queries by " << map.keyTile << " keys</text>\n</svg>\n";
}
