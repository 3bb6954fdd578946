# SPDX-License-Identifier: GPL-2.0-only
#
# Sphinx: "make html" in the root makes the site of these pages in build/html.

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

with open(os.path.join(ROOT, "dkms.conf"), encoding="utf-8") as conf:
    version = re.search(r'^PACKAGE_VERSION="(.*)"', conf.read(), re.M).group(1)

project = "Spindle"
release = version
master_doc = "index"
html_theme = "alabaster"
html_theme_options = {"page_width": "72em", "sidebar_width": "16em", "fixed_sidebar": True}
html_show_copyright = False
html_copy_source = False

# A section of another page is :ref:`folder/page:Title of the section`. Titles of generated pages
# repeat, and no page refers to those.
extensions = ["sphinx.ext.autosectionlabel"]
autosectionlabel_prefix_document = True
suppress_warnings = ["autosectionlabel.*"]

# A literal block is C, shell or a picture; a page that wants colours says which language it has.
highlight_language = "none"
