"""Makes the fonts of pictures: subsets of open fonts, small enough to come along
(packages/launch/src/assent_launch/pictures/fonts).

    uv run --with fonttools==4.68.0 scripts/fonts.py DIRECTORY

DIRECTORY holds what `npm pack` brings for each package that its fonts.toml names.
Checks their hashes against that file, writes the subsets, and prints the hashes of the results for the file. One
weight, no hinting, the layout features that shaping needs, and the characters below.
"""

from __future__ import annotations

import base64
import hashlib
import io
import sys
import tarfile
import tomllib
from pathlib import Path

from fontTools import subset

FONTS = Path(__file__).parent.parent / "packages" / "launch" / "src" / "assent_launch" / "pictures" / "fonts"

FEATURES = (
    *("ccmp", "locl", "mark", "mkmk", "kern", "init", "medi", "fina", "isol", "rlig", "liga", "calt", "curs"),
    *("rclt", "akhn", "nukt", "rphf", "rkrf", "pref", "blwf", "half", "abvf", "pstf", "cjct", "vatu", "pres"),
    *("abvs", "blws", "psts", "haln", "dist", "abvm", "blwm"),
)


def points(*ranges: tuple[int, int]) -> set[int]:
    return {point for first, last in ranges for point in range(first, last + 1)}


def japanese() -> set[int]:
    """What code page 932 has: JIS X 0208 and the extensions that names are written with."""
    found = points((0x3041, 0x30FF))
    for point in points(
        (0x2000, 0x27FF), (0x3000, 0x33FF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF)
    ):
        try:
            chr(point).encode("cp932")
        except UnicodeEncodeError:
            continue
        found.add(point)
    return found


CHARACTERS = {
    "Inter-Bold.ttf": points(
        (0x20, 0x52F), (0x1E00, 0x20CF), (0x2100, 0x23FF), (0x25CF, 0x25CF), (0x2713, 0x2717)
    ),
    "NotoSansArabic-Bold.ttf": points((0x600, 0x77F), (0x200C, 0x200F)),
    "NotoSansHebrew-Bold.ttf": points((0x590, 0x5FF)),
    "NotoSansThai-Bold.ttf": points((0xE00, 0xE7F)),
    "NotoSansDevanagari-Bold.ttf": points((0x900, 0x97F), (0x200C, 0x200D), (0x25CC, 0x25CC)),
    "NotoSansJP-Bold.ttf": japanese(),
}


def main(packages: Path) -> None:
    for font in tomllib.loads((FONTS / "fonts.toml").read_text())["font"]:
        name = f"{font['package'].removeprefix('@').replace('/', '-')}-{font['version']}.tgz"
        packed = (packages / name).read_bytes()
        found = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
        if found != font["integrity"]:
            raise SystemExit(f"{name} is not the package that fonts.toml names")
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            member = archive.extractfile(font["member"])
            if member is None:
                raise SystemExit(f"{name} has no {font['member']}")
            source = io.BytesIO(member.read())
        options = subset.Options(
            layout_features=list(FEATURES),
            hinting=False,
            name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14],
            canonical_order=True,
        )
        options.drop_tables += ["DSIG", "vhea", "vmtx", "VORG", "STAT"]
        loaded = subset.load_font(source, options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=CHARACTERS[font["file"]] | {0x20, 0xA0})
        subsetter.subset(loaded)
        target = FONTS / font["file"]
        subset.save_font(loaded, str(target), options)
        print(font["file"], target.stat().st_size, hashlib.sha256(target.read_bytes()).hexdigest())  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
