"""The documentation site: `make docs` builds it from the Markdown files of this repository (docs/decisions/0018).

The source folder is the root of the repository, so that links between docs/ and the pages beside it are checked.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]

project = "Assent"
html_title = "Assent"
root_doc = "docs/index"
include_patterns = ["docs/**", "*.md"]
exclude_patterns = [
    ".*",
    "AGENTS.md",
    "README.md",
    *(folder.name for folder in ROOT.iterdir() if folder.is_dir() and folder.name != "docs"),
]

extensions = ["myst_parser"]
myst_heading_anchors = 4

html_theme = "furo"
templates_path = ["templates"]
html_additional_pages = {"index": "start.html"}
html_copy_source = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
