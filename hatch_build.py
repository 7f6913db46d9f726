"""What a package index shows: addresses of the project, and a text whose links work.

The README links to files beside it. In a wheel these are not there, so links lead to
the public repository: the address in `JAXGAMES_URL`, or else that of the remote
`origin`. If there is no such address, the text stands without these links and pictures.
"""

import os
import re
import subprocess
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?![a-z]+:|#)([^()\s]+)\)")
"""A Markdown link or picture whose target is a file: `![text](target)`."""

REMOTE = re.compile(
    r"(?:https?://|ssh://)?(?:[^@/]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+)(?::\d+)?[/:]"
    r"(?P<path>[\w./~-]+?)(?:\.git)?/?"
)
"""Addresses that git takes; those without a domain's dot in the host are not public."""


class Hook(MetadataHookInterface):
    """Adds the description and the addresses to the metadata."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict) -> None:
        """Sets the fields that `pyproject.toml` calls dynamic."""
        root = Path(self.root)
        address = public(os.environ.get("JAXGAMES_URL") or origin(root))
        text = (root / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": described(text, address),
        }
        if address:
            metadata["urls"] = urls(address)


def origin(root: Path) -> str:
    """The address of the repository that a folder was cloned from, or nothing."""
    command = ["git", "-C", str(root), "config", "--get", "remote.origin.url"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:  # there is no git
        return ""
    return found.stdout.strip()


def public(remote: str) -> str:
    """The page of a repository, if its address is one of the web."""
    if remote.startswith(("file:", ".", "/")):
        return ""
    found = REMOTE.fullmatch(remote)
    return f"https://{found['host']}/{found['path'].strip('/')}" if found else ""


def urls(address: str) -> dict[str, str]:
    """What a package index lists beside the text."""
    return {
        "Homepage": address,
        "Documentation": f"{address}/blob/HEAD/docs/index.md",
        "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def described(text: str, address: str) -> str:
    """A text whose links work wherever it is read."""

    def replaced(link: re.Match) -> str:
        mark, words, target = link.groups()
        if not address:
            return "" if mark else words
        kind = "raw" if mark else "blob"
        return f"{mark}[{words}]({address}/{kind}/HEAD/{target})"

    return re.sub(r"\n{3,}", "\n\n", LINK.sub(replaced, text))
