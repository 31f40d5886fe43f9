"""The words of the public pages."""

from __future__ import annotations

from typing import Final

SKIP_TO_THE_CONTENT: Final = "Skip to the content"
SITE: Final = "Site"
ALL_POSTS: Final = "All posts"
SUBSCRIBE: Final = "Subscribe"
PUBLISHED_WITH: Final = "Published with Assent"

LATEST_POSTS: Final = "Latest posts"
EARLIER_POSTS: Final = "Earlier posts"
OLDER_POSTS: Final = "Older posts"

POST_OF: Final = "Post of {date}"
LINKS: Final = "Links"

TAKEN_DOWN: Final = "This post was taken down"
TAKEN_DOWN_HINT: Final = "It was published here, and its authors have taken it down since."
