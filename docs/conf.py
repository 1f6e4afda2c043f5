"""How the site is built; `docs/build` builds it, without a network."""

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "localmap"
author = "the localmap developers"
release = version = version_of("localmap")
copyright = author  # noqa: A001 - Sphinx's name for it

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "command_page",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_*", "gallery", "results/*/maps"]
# A page that no other names is told by check.py: it is no reason to fail.
suppress_warnings = ["toc.not_included"]
templates_path = ["_templates"]
nitpicky = True
html_math_renderer = "mathml"
default_role = "literal"  # in docstrings; links are asked for by name

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

# Pages of names: one for each, made from __all__ (see api/index.md).
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"  # numpydoc's sections say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# Links to other libraries: only to inventories that are here already. No address is
# fetched; LOCALMAP_INVENTORIES="name=address=file ..." turns them on.
_inventories = [
    entry.split("=") for entry in os.environ.get("LOCALMAP_INVENTORIES", "").split()
]
intersphinx_mapping = {name: (url, path) for name, url, path in _inventories}
numpydoc_xref_param_type = bool(intersphinx_mapping)
numpydoc_xref_ignore = "all"

plot_include_source = False
plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 110)]

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),
    "remove_config_comments": True,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "plot_gallery": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "localmap"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "localmap"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["licence"],
    "footer_end": [],
    "show_prev_next": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# Where there is nothing below, no empty column.
html_sidebars = {name: [] for name in ("index", "start", "benchmarks", "command")}


def _of_others(_app, _what, _name, member, _skip, _options):  # noqa: ANN001, ANN202
    """Leave out what scikit-learn and tuples bring along: it is documented there."""
    module = getattr(member, "__module__", None) or getattr(
        getattr(member, "fget", None), "__module__", None
    )
    return None if module is None or module.startswith("localmap") else True


def setup(app) -> None:  # noqa: ANN001
    """Tell Sphinx."""
    app.connect("autodoc-skip-member", _of_others)
