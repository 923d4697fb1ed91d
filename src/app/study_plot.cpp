#include "app/study_plot.h"

#include <fmt/format.h>

#include <algorithm>

namespace tendril::app {

namespace {

constexpr double width = 420, height = 300, left = 48, right = 12, top = 14, bottom = 40, legendLine = 16;

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return safe;
}

}

StudyPlot::StudyPlot(Range x, Range y, std::string xLabel, std::string yLabel)
    : x_(x), y_(y), xLabel_(std::move(xLabel)), yLabel_(std::move(yLabel)) {}

double StudyPlot::u(double x) const { return left + (x - x_[0]) / (x_[1] - x_[0]) * (width - left - right); }
double StudyPlot::v(double y) const { return height - bottom - (y - y_[0]) / (y_[1] - y_[0]) * (height - top - bottom); }

void StudyPlot::cell(Range x, Range y, const char* colour) {
  cells_ +=
      fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}z\" fill=\"{}\"/>\n", u(x[0]), v(y[1]), u(x[1]), v(y[0]), u(x[0]), colour);
}

void StudyPlot::curve(const Points& points, const char* colour) {
  std::string path;
  bool isDrawn = false; // the pen
  for (const auto& [x, y] : points) {
    const bool isSeen = x >= x_[0] && x <= x_[1] && y >= y_[0] && y <= y_[1];
    if (isSeen) path += fmt::format("{}{:.1f} {:.1f}", isDrawn ? 'L' : 'M', u(x), v(y));
    isDrawn = isSeen;
  }
  lines_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n", path, colour);
}

void StudyPlot::square(double side, const char* colour) {
  const double to = std::min({side, x_[1], y_[1]});
  if (!(to > 0)) return;
  lines_ += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}z\" fill=\"{}\" fill-opacity=\"0.35\" stroke=\"{}\"/>\n", u(0), v(to),
                        u(to), v(0), u(0), colour, colour);
}

void StudyPlot::legend(const std::string& words, const char* colour) { legend_.emplace_back(words, colour); }

std::string StudyPlot::axes() const {
  std::string text;
  for (int k = 0; k <= 5; ++k) {
    const double x = x_[0] + k / 5.0 * (x_[1] - x_[0]), y = y_[0] + k / 5.0 * (y_[1] - y_[0]);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.3g}</text>\n", u(x), height - bottom + 14, x);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3g}</text>\n", left - 5, v(y) + 4, y);
  }
  text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2, height - 8,
                      escaped(xLabel_));
  text += fmt::format("<text transform=\"translate(12,{:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                      (top + height - bottom) / 2, escaped(yLabel_));
  return text + fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444\"/>\n", left, top,
                            width - left - right, height - top - bottom);
}

std::string StudyPlot::svg(const std::string& title) const {
  const double whole = height + legendLine * double(legend_.size()) + 6;
  std::string text = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
                                 "font-size=\"11\">\n<title>{}</title>\n<rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n",
                                 width, whole, escaped(title), width, whole);
  text += "<g shape-rendering=\"crispEdges\">\n" + cells_ + "</g>\n" + lines_ + axes();
  double y = height + 10;
  for (const auto& [words, colour] : legend_) {
    text += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"14\" height=\"9\" fill=\"{}\"/>\n<text x=\"{}\" y=\"{:.1f}\">{}</text>\n",
                        left, y - 8, colour, left + 20, y, escaped(words));
    y += legendLine;
  }
  return text + "</svg>\n";
}

}
