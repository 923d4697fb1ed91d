#pragma once
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace tendril::app {

/// A diagram with two linear axes, coloured cells, curves and a legend below it, as SVG.
class StudyPlot {
 public:
  using Range = std::array<double, 2>;
  using Points = std::vector<std::pair<double, double>>;

  StudyPlot(Range x, Range y, std::string xLabel, std::string yLabel);

  /// Fills a rectangle. Neighbours of one colour in y are to be given as one.
  void cell(Range x, Range y, const char* colour);
  /// Through the points in turn, with gaps where they lie outside of the axes or are no numbers.
  void curve(const Points& points, const char* colour);
  /// From the origin.
  void square(double side, const char* colour);
  void legend(const std::string& words, const char* colour);
  std::string svg(const std::string& title) const;

 private:
  double u(double x) const;
  double v(double y) const;
  std::string axes() const;

  Range x_, y_;
  std::string xLabel_, yLabel_, cells_, lines_;
  std::vector<std::pair<std::string, std::string>> legend_; ///< words, colour
};

}
