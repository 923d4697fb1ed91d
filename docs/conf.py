"""The documentation as a site: `make docs` writes build/docs/html.

The root of the pages is that of the checkout, so that a link between two of them is the same here and where the files are read alone.
"""
from pathlib import Path
from shutil import copytree

from docutils.nodes import SkipNode

project = "Tendril"
author = "the authors of Tendril"
copyright = "the authors of Tendril; Apache-2.0"
version = release = "0.1"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "bench/*.md"]
nitpicky = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the signatures of the extension module carry them already

html_theme = "furo"
html_title = "Tendril"
html_show_sphinx = False

# Formulas are typeset by KaTeX, which lies beside the pages: they need no network.
katex = Path("/usr/share/javascript/katex")


def show_inline(writer, node):
    writer.body.append(writer.starttag(node, "span", "", CLASS="math") + r"\(" + writer.encode(node.astext()) + r"\)</span>")
    raise_skip()


def show_displayed(writer, node):
    number = f'<span style="float: right">({node["label"]})</span>' if node.get("label") else ""  # as pages and code cite it
    writer.body.append(writer.starttag(node, "div", CLASS="math") + number)
    writer.body.append(r'<div style="overflow: auto hidden">\[' + writer.encode(node.astext()) + r"\]</div></div>")
    raise_skip()


def raise_skip():
    raise SkipNode


def add_katex(app, page, template, context, document):
    app.add_css_file("katex/katex.min.css")
    app.add_js_file("katex/katex.min.js")
    app.add_js_file("katex/contrib/auto-render.js")
    app.add_js_file(None, body="document.addEventListener('DOMContentLoaded', () => renderMathInElement(document.body));")


def setup(app):
    app.add_html_math_renderer("katex", inline_renderers=(show_inline, None), block_renderers=(show_displayed, None))
    app.config.html_math_renderer = "katex"
    app.connect("build-finished", write_entrance)
    if katex.exists():
        app.connect("html-page-context", add_katex)
        app.connect("build-finished", copy_katex)


def copy_katex(app, failure):
    if failure is None and app.builder.format == "html":
        copytree(katex, Path(app.outdir) / "_static" / "katex", dirs_exist_ok=True)


def write_entrance(app, failure):
    if failure is None and app.builder.format == "html":
        (Path(app.outdir) / "index.html").write_text('<meta http-equiv="refresh" content="0; url=docs/index.html">\n')
