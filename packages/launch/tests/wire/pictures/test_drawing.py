"""Pictures as they come out of the process that draws them: legible in every script, the same every time."""

from __future__ import annotations

import asyncio
import hashlib
import re
import struct
import tomllib

import msgspec
import pytest

from assent_launch.channels.registry import SIZES
from assent_launch.drafting import PictureMaker
from assent_launch.pictures import graphics, palette
from assent_launch.pictures.graphics import (
    LAYOUTS,
    Drawn,
    Order,
    PictureJob,
    PictureResult,
    PicturesFailed,
    TooLong,
)
from assent_launch.pictures.process import BUNDLED, Fonts, make

pytestmark = pytest.mark.slow

HEADLINES = {
    "latin": "Bookkeeping for clubs, done before the coffee is cold",
    "japanese": "銀行の明細をそのまま取り込み、会費の照合は自動で終わります",
    "arabic": "استيراد كشوف الحساب البنكية في دقيقة واحدة مع Ledgerleaf (تجريبي)",
    "hebrew": "הנהלת חשבונות למועדונים, לפני שהקפה מתקרר",
    "hindi": "क्लबों के लिए बहीखाता, बस एक मिनट में",
    "thai": "บัญชีสำหรับชมรม เสร็จก่อนกาแฟเย็น",
    "cyrillic": "Бухгалтерия для клубов за одну минуту",
    "greek": "Λογιστικά για συλλόγους σε ένα λεπτό",
}


@pytest.fixture(scope="module")
def fonts() -> Fonts:
    return Fonts()


def order(headline: str, **more: str) -> Order:
    return Order(headline=headline, name=more.get("name", "Ledgerleaf"), main=more.get("main", "#0b6e4f"))


def work(headline: str, *channels: str, layouts: tuple[str, ...] = LAYOUTS) -> PictureJob:
    return PictureJob(order=order(headline), channels=channels or ("linkedin",), layouts=layouts)


def dimensions(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize("script", HEADLINES)
def test_a_headline_is_drawn_in_every_size_and_stays_inside(script: str, fonts: Fonts) -> None:
    assert fonts.missing(HEADLINES[script]) == ()
    for channel, size in SIZES.items():
        for layout in LAYOUTS:
            drawn = graphics.draw(order(HEADLINES[script]), channel, layout, fonts.shape)
            assert isinstance(drawn, Drawn), (channel, layout, drawn)
            places = re.findall(r"matrix\(([\d.]+) 0 0 -[\d.]+ (-?[\d.]+) (-?[\d.]+)\)", drawn.svg)
            assert len(places) > 20
            for scale, x, y in places:
                # Glyphs begin inside the margins; font units are at most 2048 to the letter size.
                assert 0.02 * size.width < float(x) < size.width * 0.98, (channel, layout)
                assert float(scale) * 1000 < float(y) * 1.2, (channel, layout)
                assert float(y) < size.height * 0.97, (channel, layout)


@pytest.mark.parametrize("script", ["latin", "japanese", "arabic"])
def test_letters_are_large_enough_for_a_phone(script: str, fonts: Fonts) -> None:
    long = (HEADLINES[script] + " ") * 3
    for channel, size in SIZES.items():
        for layout in LAYOUTS:
            drawn = graphics.draw(order(long.strip()), channel, layout, fonts.shape)
            if isinstance(drawn, TooLong):
                assert 0 < drawn.most < len(long)
                continue
            scales = [float(scale) for scale in re.findall(r"matrix\(([\d.]+)", drawn.svg)]
            # The name of the brand is the smallest text: at least 11 px on a phone 390 px wide.
            assert min(scales) * 2048 * 390 / size.width >= 11, (channel, layout)


def test_right_to_left_text_mirrors_the_picture(fonts: Fonts) -> None:
    there = graphics.draw(order(HEADLINES["latin"]), "linkedin", "light", fonts.shape)
    back = graphics.draw(order(HEADLINES["arabic"]), "linkedin", "light", fonts.shape)

    assert isinstance(there, Drawn)
    assert isinstance(back, Drawn)
    assert '<rect x="0.00" y="0.00" width="42.00"' in there.svg
    assert f'<rect x="{1200 - 42}.00" y="0.00" width="42.00"' in back.svg


def test_the_words_are_the_title_and_nothing_in_them_is_markup(fonts: Fonts) -> None:
    drawn = graphics.draw(order("Fast & <b>safe</b>"), "linkedin", "dark", fonts.shape)

    assert isinstance(drawn, Drawn)
    assert "<title>Fast &amp; &lt;b&gt;safe&lt;/b&gt; (Ledgerleaf)</title>" in drawn.svg


async def test_the_same_order_gives_the_same_bytes_in_another_process() -> None:
    asked = work(HEADLINES["arabic"], "linkedin", "instagram", layouts=("dark",))

    here = make(asked)
    there = await PictureMaker().make(asked)

    assert here == there
    assert [dimensions(each.content) for each in here.made] == [(1200, 627), (1080, 1080)]


def test_emoji_are_left_out_and_said() -> None:
    result = make(work("Ship it 🚀 today 👩‍💻", layouts=("dark",)))

    assert result.left_out == ("🚀", "👩‍💻")
    assert result.order is not None
    assert result.order.headline == "Ship it today"
    assert len(result.made) == 1


def test_a_script_without_a_font_is_refused_and_never_drawn_as_boxes() -> None:
    result = make(work("한국어 제목"))

    assert result == PictureResult(no_glyph=("한", "국", "어", "제", "목"))


def test_a_font_of_the_server_fills_in(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("fonts")
    (folder / "broken.ttf").write_bytes(b"no font")
    (folder / "Other-Bold.ttf").write_bytes((BUNDLED / "NotoSansThai-Bold.ttf").read_bytes())
    alone = Fonts([str(folder)])
    alone.__dict__["_bundled"] = []

    assert alone.missing("ก A") == ("A",)


def test_a_headline_that_does_not_fit_makes_no_picture_at_all() -> None:
    result = make(work("word " * 60, "linkedin", "tiktok"))

    assert result.made == ()
    assert [each.channel for each in result.too_long] == ["linkedin"]
    assert 100 < result.too_long[0].most < 300


async def test_a_process_that_breaks_is_an_error_and_not_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(PicturesFailed):
        await PictureMaker().make(work("Hello"))

    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(PicturesFailed):
        await PictureMaker().make(work("Hello"))


async def test_a_caller_who_leaves_takes_the_process_along() -> None:
    task = asyncio.create_task(PictureMaker().make(work("Hello", *SIZES)))
    for _ in range(5):
        await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


def test_the_fonts_are_the_ones_on_record() -> None:
    table = tomllib.loads((BUNDLED / "fonts.toml").read_text())["font"]

    assert {font["file"] for font in table} == {path.name for path in BUNDLED.glob("*.ttf")}
    for font in table:
        assert hashlib.sha256((BUNDLED / font["file"]).read_bytes()).hexdigest() == font["sha256"], font[
            "file"
        ]
        assert font["copyright"] in (BUNDLED / "OFL.txt").read_text()


def test_what_is_ordered_survives_the_way_to_the_process() -> None:
    asked = msgspec.structs.replace(work("Ünïcödé"), font_dirs=("/usr/share/fonts",))

    assert msgspec.msgpack.decode(msgspec.msgpack.encode(asked), type=PictureJob) == asked


def test_a_colour_from_a_name_is_one_that_can_be_drawn() -> None:
    assert palette.parse(palette.derive_colour("Ledgerleaf")) is not None
