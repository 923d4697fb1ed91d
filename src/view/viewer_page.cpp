#include "view/viewer_page.h"
#include "tendril/model/error.h"
#include "tendril/view/view.h"

// The build names the page by TENDRIL_VIEWER_PAGE. The assembler takes it as it is: no compiler has to read it as an array of numbers.
#ifdef TENDRIL_VIEWER_PAGE
asm(".section .rodata\n"
    ".balign 16\n"
    ".globl tendril_viewer_page_begin\n"
    "tendril_viewer_page_begin:\n"
    ".incbin \"" TENDRIL_VIEWER_PAGE "\"\n"
    ".globl tendril_viewer_page_end\n"
    "tendril_viewer_page_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const char tendril_viewer_page_begin[], tendril_viewer_page_end[];
#endif

namespace tendril {

std::string_view viewerPage() {
#ifdef TENDRIL_VIEWER_PAGE
  return {tendril_viewer_page_begin, tendril_viewer_page_end};
#else
  return {};
#endif
}

void requireViewer(std::string_view page) {
  if (page.find(filmMark) == std::string_view::npos)
    throw MachineFailure(
        "this build of tendril has no viewer: install Node.js 18 or newer with npm, configure with TENDRIL_BUILD_VIEWER=ON "
        "and build again");
}

bool hasViewer() { return !viewerPage().empty(); }

}
