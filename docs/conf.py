"""Configuration of the documentation site: `make docs` builds it in build/docs/html."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import duramen  # noqa: E402

project = "duramen"
author = "duramen maintainers"
project_copyright = "2026, duramen maintainers"
# The name under which the site is published: a release, or "dev".
published = os.environ.get("DURAMEN_DOCS_VERSION", "dev")
version = release = f"{duramen.__version__}.dev0" if published == "dev" else published

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "myst_parser",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "_site.accessible",
    "_site.former",
    "_site.outside",
    "_site.pictures",
    "_site.reference",
]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "_site",
    "images/make_*.py",
    "examples",
    "paper",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "sg_execution_times.rst",
]
# One backtick is code in docstrings, as Markdown has it.
default_role = "code"

# The build runs the examples, and makes their pictures and notebooks.
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "subsection_order": [
        f"examples/{topic}"
        for topic in ("rank", "explain", "columns", "select", "networks", "theory")
    ],
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1000,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "plot_gallery": True,
    "capture_repr": (),
    "write_computation_times": False,
}

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 4  # the anchors that GitHub gives headings
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_typehints = "none"  # numpydoc sections say the types
autodoc_member_order = "bysource"
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "duramen"
html_static_path = ["_static"]
html_css_files = ["versions.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    # tools/versions.py writes the list, above the folders of all versions.
    "switcher": {
        "json_url": "../versions.json",
        "version_match": published,
    },
    "check_switcher": False,
    "show_version_warning_banner": True,
    "navbar_end": ["version-switcher", "theme-switcher"],
    "navigation_with_keys": False,
    "show_prev_next": False,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "secondary_sidebar_items": ["page-toc"],
}


def skip(app: object, what: str, name: str, thing: object, skipped: bool, options: object) -> bool:
    """Leave out the methods that scikit-learn's metadata routing gives every estimator."""
    module = getattr(thing, "__module__", "") or ""
    return skipped or name.endswith("_request") or module.startswith("sklearn.utils._metadata")


def setup(app) -> None:  # type: ignore[no-untyped-def]
    """Connect what this configuration adds."""
    app.connect("autodoc-skip-member", skip)
