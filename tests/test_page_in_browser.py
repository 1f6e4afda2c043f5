"""The page in a real browser: Debian's Chromium, driven by Playwright, offline.

Every test runs twice: with WebGL2 (by software, where there is no graphics card) and
without, on the Canvas2D fallback.
"""

import csv
import io
import os
import shutil

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs the cli extra")

from localmap import plotting
from localmap.plotting.colors import GROUP_COLORS, LOOKS

FLAGS = {
    "WebGL2": ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
    "Canvas2D": ["--disable-3d-apis"],
}
# What a software driver says of itself when a pixel is read back.
BROWSERS_OWN = "GL Driver Message (OpenGL, Performance"
CENTRES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
GROUPS = np.repeat(np.arange(4), 100)
NAMES = np.array(["north", "east", "south", "west"])[GROUPS]
Y = CENTRES[GROUPS] + np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
HEIGHT = np.where(np.arange(400) % 10, Y[:, 1], np.nan)
IMAGES = np.zeros((400, 6, 6), dtype=np.uint8)
IMAGES[np.arange(400), GROUPS, :] = 255
NEIGHBORS = np.argsort(((Y[:, None] - Y[None]) ** 2).sum(axis=2), axis=1)[:, 1:6]


def unavailable(why):
    """A machine without a browser skips; CI, where it must be there, fails."""
    if os.environ.get("CI"):
        pytest.fail(f"{why}, and CI must test the page")
    pytest.skip(why)


@pytest.fixture(scope="session")
def playwright():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("the page is tested through playwright, which is not installed")
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session", params=list(FLAGS))
def browser(request, playwright):
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        unavailable("the page is tested in Chromium, which is not installed")
    started = playwright.chromium.launch(
        executable_path=program, args=["--no-sandbox", *FLAGS[request.param]]
    )
    started.renderer = request.param
    yield started
    started.close()


@pytest.fixture
def show(browser, tmp_path):
    """Opens a page from disk, without a network; fails on any word of the console."""
    context = browser.new_context(
        viewport={"width": 1000, "height": 700}, offline=True, accept_downloads=True
    )
    said, asked = [], []

    def show(page, name="map.html"):
        path = page.save(tmp_path / name)
        tab = context.new_page()
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on("dialog", lambda dialog: (said.append("dialog"), dialog.dismiss()))
        tab.on("request", lambda request: asked.append(request.url))
        # Software WebGL is passed over by itself, being slower: here it is asked for.
        tab.goto(path.as_uri() + ("#webgl" if browser.renderer == "WebGL2" else ""))
        tab.wait_for_selector("html[data-ready]", timeout=30_000)
        assert tab.locator("#summary").inner_text().endswith(browser.renderer)
        return tab

    yield show
    context.close()
    assert [words for words in said if BROWSERS_OWN not in words] == []
    assert [u for u in asked if not u.startswith(("file:", "data:", "blob:"))] == []


@pytest.fixture(scope="module")
def film():
    film = plotting.Film(n_frames=5, n_iters=(2, 2, 4))
    for iteration in range(8):
        film.callback(iteration, (Y * (iteration + 1) - 3).astype(np.float32), 0.0)
    return film


@pytest.fixture(scope="module")
def whole(film):
    return plotting.page(
        Y, NAMES, columns={"height": HEIGHT, "id": [f"row {i}" for i in range(400)]},
        thumbnails=IMAGES, neighbors=NEIGHBORS, film=film, title="Four winds",
        theme="light",
    )  # fmt: skip


def place(tab, row):
    """Where a row of the data is on the screen, and its number in the page."""
    x, y, i = tab.evaluate(
        """row => { const e = localmapPage.explorer; const i = e.rows.indexOf(row);
        return [...e.screenOf(i), i]; }""",
        row,
    )
    return x, y, i


def middle_of(group):
    """A row near the middle of its group."""
    members = np.flatnonzero(group == GROUPS)
    away = ((Y[members] - CENTRES[group]) ** 2).sum(axis=1)
    return int(members[away.argmin()])


def pixel(tab, x, y):
    from PIL import Image

    tab.wait_for_timeout(250)
    image = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    return "#{:02x}{:02x}{:02x}".format(*image.getpixel((round(x), round(y))))


def drag(tab, corners):
    tab.mouse.move(*corners[0])
    tab.mouse.down()
    for corner in corners[1:]:
        tab.mouse.move(*corner, steps=4)
    tab.mouse.up()


def around(tab, group, pad=0.2):
    """Two corners on the map around a group."""
    rows = np.flatnonzero(group == GROUPS)
    spots = np.array([place(tab, int(r))[:2] for r in rows[::3]])
    low, high = spots.min(axis=0), spots.max(axis=0)
    extra = pad * (high - low)
    stage = tab.evaluate("(e => [e.clientWidth, e.clientHeight])(stage)")
    return np.clip([low - extra, high + extra], 2, np.array(stage) - 2)


def test_points_have_the_colours_of_their_groups(show, whole):
    tab = show(whole)
    assert tab.title() == "Four winds"
    tab.uncheck("#names")
    order = sorted(set(NAMES))  # groups take colours in the order of their names
    for group in range(4):
        row = middle_of(group)
        expected = GROUP_COLORS["light"][order.index(NAMES[row])]
        assert pixel(tab, *place(tab, row)[:2]) == expected
    assert pixel(tab, 20, 20) == LOOKS["light"].paper


def test_hover_shows_columns_image_and_near_pairs(show, whole):
    tab = show(whole)
    row = middle_of(2)
    x, y, i = place(tab, row)
    tab.mouse.move(x, y)
    words = tab.locator("#card").inner_text().split("\n")
    assert dict(zip(words[::2], words[1::2], strict=True)) == {
        "row": str(row), "label": "south", "id": f"row {row}",
        "height": "missing" if row % 10 == 0 else f"{HEIGHT[row]:.6g}",
    }  # fmt: skip
    tab.wait_for_timeout(200)
    bright = tab.evaluate(
        """() => { const c = document.querySelector("#card canvas");
        const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        const line = c.height / 6; return [0, 1, 2, 3].map(
          k => d[4 * (Math.floor((k + .5) * line) * c.width + 9)] > 128); }"""
    )
    assert bright == [False, False, True, False]
    pairs = tab.evaluate(
        """i => { const e = localmapPage.explorer;
        return e.pairsOf(i).map(j => e.rows[j]); }""",
        i,
    )
    assert pairs == NEIGHBORS[row].tolist()
    tab.mouse.move(5, 5)
    assert tab.locator("#card").is_hidden()


def test_colour_by_another_column(show, whole):
    tab = show(whole)
    tab.select_option("#color", label="height")
    legend = tab.locator("#legend")
    assert legend.locator("button").count() == 1
    assert "missing" in legend.inner_text()
    tab.uncheck("#names")
    low, high = int(np.nanargmin(HEIGHT)), int(np.nanargmax(HEIGHT))
    shades = tab.evaluate("localmapPage.explorer.look.scale")
    assert pixel(tab, *place(tab, low)[:2]) == shades[0]
    assert pixel(tab, *place(tab, high)[:2]) == shades[-1]


def test_the_legend_greys_groups_out_and_brings_them_back(show, whole):
    tab = show(whole)
    tab.uncheck("#names")
    row = middle_of(1)
    x, y, _ = place(tab, row)
    before = pixel(tab, x, y)
    entry = tab.get_by_role("button", name="east")
    entry.click()
    assert entry.get_attribute("aria-pressed") == "false"
    faded = pixel(tab, x, y)
    assert faded != before
    red, green, blue = (int(faded[k : k + 2], 16) for k in (1, 3, 5))
    assert max(red, green, blue) - min(red, green, blue) <= 2  # grey
    tab.mouse.move(x, y)
    assert tab.locator("#card").is_hidden()
    entry.click()
    assert entry.get_attribute("aria-pressed") == "true"
    entry.click(modifiers=["Shift"])
    pressed = tab.locator("#legend button").evaluate_all(
        "all => all.filter(b => b.ariaPressed === 'true').map(b => b.title)"
    )
    assert pressed == ["east"]


def test_search_lists_and_selects(show, whole):
    tab = show(whole)
    tab.fill("#search", "WEST")
    assert tab.locator("#search-count").inner_text() == "100 points found"
    assert tab.locator("#found li").count() == 100
    tab.click("#search-select")
    assert tab.locator("#selection-count").inner_text() == "100 points selected"
    tab.fill("#search", "row 123")
    assert tab.locator("#search-count").inner_text() == "1 point found"
    tab.locator("#found button").click()
    assert "row 123" in tab.locator("#card").inner_text()
    tab.fill("#search", "nothing like it")
    assert tab.locator("#search-count").inner_text() == "0 points found"


def saved(tab, button):
    with tab.expect_download() as waiting:
        tab.click(button)
    path = waiting.value.path()
    return waiting.value.suggested_filename, path.read_bytes()


def test_lasso_box_add_take_away_and_csv(show, whole):
    tab = show(whole)
    count = tab.locator("#selection-count")
    tab.click("[data-tool=lasso]")
    (left, top), (right, bottom) = around(tab, 0)
    drag(tab, [(left, top), (right, top), (right, bottom), (left, bottom)])
    assert count.inner_text() == "100 points selected"
    tab.click("button[data-tool=box]")
    low, high = around(tab, 3)
    tab.keyboard.down("Shift")
    drag(tab, [low, high])
    tab.keyboard.up("Shift")
    assert count.inner_text() == "200 points selected"
    low, high = around(tab, 0)
    tab.keyboard.down("Alt")
    drag(tab, [low, high])
    tab.keyboard.up("Alt")
    assert count.inner_text() == "100 points selected"
    name, text = saved(tab, "#csv")
    assert name == "Four-winds-selection.csv"
    rows = list(csv.DictReader(io.StringIO(text.decode("utf-8-sig"))))
    assert [int(r["row"]) for r in rows] == list(range(300, 400))
    assert {r["label"] for r in rows} == {"west"}
    places = np.array([[float(r["x"]), float(r["y"])] for r in rows])
    np.testing.assert_allclose(places, Y[300:], atol=1e-5)
    heights = [float(r["height"]) if r["height"] else np.nan for r in rows]
    np.testing.assert_array_equal(heights, HEIGHT[300:])
    tab.click("#clear")
    assert count.inner_text() == "nothing selected"
    assert tab.locator("#csv").is_disabled()


def test_modes_do_without_keys_what_keys_do(show, whole):
    tab = show(whole)
    tab.click("button[data-tool=box]")
    drag(tab, [*around(tab, 0)])
    tab.click("button[data-mode=add]")
    drag(tab, [*around(tab, 1)])
    assert tab.locator("#selection-count").inner_text() == "200 points selected"
    tab.click("button[data-mode=remove]")
    drag(tab, [*around(tab, 0)])
    assert tab.locator("#selection-count").inner_text() == "100 points selected"


def test_zoom_and_pan_keep_what_is_under_the_cursor(show, whole):
    tab = show(whole)
    x, y, _ = place(tab, middle_of(3))
    tab.mouse.move(x, y)
    tab.mouse.wheel(0, -300)
    tab.wait_for_timeout(100)
    np.testing.assert_allclose(place(tab, middle_of(3))[:2], (x, y), atol=1.5)
    assert tab.evaluate("localmapPage.explorer.view.zoom") > 2
    drag(tab, [(x, y), (x - 70, y + 40)])
    np.testing.assert_allclose(place(tab, middle_of(3))[:2], (x - 70, y + 40), atol=3)
    tab.click("#fit")
    assert tab.evaluate("localmapPage.explorer.view.zoom") == 1


def test_keys_alone_step_speak_select_and_clear(show, whole):
    tab = show(whole)
    tab.focus("#overlay")
    tab.keyboard.press("ArrowRight")
    first = tab.evaluate("localmapPage.explorer.current")
    assert first >= 0
    spoken = tab.locator("#spoken").inner_text()
    assert "label" in spoken
    tab.keyboard.press("ArrowRight")
    x = tab.evaluate("[...localmapPage.explorer.places]")
    now = tab.evaluate("localmapPage.explorer.current")
    if now != first:
        assert x[2 * now] > x[2 * first]
    tab.keyboard.press("ArrowLeft")
    assert tab.locator("#spoken").inner_text() != ""
    tab.keyboard.press("Enter")
    assert tab.locator("#selection-count").inner_text() == "1 point selected"
    tab.keyboard.press("+")
    assert tab.evaluate("localmapPage.explorer.view.zoom") > 1.4
    tab.keyboard.press("0")
    tab.keyboard.press("Escape")
    assert tab.locator("#selection-count").inner_text() == "nothing selected"
    tab.keyboard.press("l")
    pressed = tab.locator("button[data-tool=lasso]").get_attribute("aria-pressed")
    assert pressed == "true"


def test_everything_has_a_name_and_can_be_reached_by_tab(show, whole):
    tab = show(whole)
    unnamed = tab.evaluate(
        """() => [...document.querySelectorAll("button, input, select, [tabindex]")]
        .filter(e => !(e.innerText || e.ariaLabel || e.labels?.length))
        .map(e => e.outerHTML)"""
    )
    assert unnamed == []
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.id") == "overlay"
    reached = set()
    for _ in range(40):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.id"))
    assert {"color", "search", "play", "moment", "theme", "png"} <= reached


def test_the_film_runs_by_slider_and_by_button(show, whole):
    tab = show(whole)
    assert tab.locator("#film-caption").inner_text() == "iteration 8: local adjustment"
    tab.locator("#moment").evaluate(
        "e => { e.value = '0'; e.dispatchEvent(new Event('input')); }"
    )
    assert tab.locator("#film-caption").inner_text() == "iteration 1: global structure"
    assert tab.evaluate("localmapPage.explorer.filming")
    places = tab.evaluate("[...localmapPage.explorer.film.places[0]]")
    assert min(places) == 0
    assert max(places) == 1
    tab.mouse.move(300, 300)
    tab.mouse.wheel(0, -300)
    tab.wait_for_timeout(100)
    assert tab.evaluate("localmapPage.explorer.filmView.zoom") > 2
    assert tab.evaluate("localmapPage.explorer.view.zoom") == 1
    tab.evaluate("localmapPage.panel.setMoment(3.6)")
    assert tab.evaluate("localmapPage.explorer.film.around.first") == 3
    tab.click("#play")
    assert tab.locator("#play").inner_text() == "Pause"
    tab.get_by_role("button", name="Play", exact=True).wait_for(timeout=10_000)
    assert not tab.evaluate("localmapPage.explorer.filming")
    marks = tab.locator("#phases span").all_inner_texts()
    assert marks == list(plotting.film.PHASES)


def test_a_picture_of_the_view_with_its_legend(show, whole):
    from PIL import Image

    tab = show(whole)
    tab.uncheck("#names")
    name, data = saved(tab, "#png")
    assert name == "Four-winds.png"
    image = Image.open(io.BytesIO(data)).convert("RGB")
    stage = tab.evaluate("(e => [e.clientWidth, e.clientHeight])(stage)")
    assert image.size == (stage[0] + 240, stage[1] + 34)
    legend = image.crop((stage[0], 0, *image.size))
    shown = {c for _, c in legend.getcolors(100_000)}
    for color in GROUP_COLORS["light"][:4]:
        assert tuple(int(color[k : k + 2], 16) for k in (1, 3, 5)) in shown


def test_without_a_graphics_card_the_faster_renderer_is_taken(browser, whole, tmp_path):
    tab = browser.new_page()
    tab.goto(whole.save(tmp_path / "map.html").as_uri())
    tab.wait_for_selector("html[data-ready]")
    assert tab.locator("#summary").inner_text().endswith("Canvas2D")
    tab.close()


def test_a_lost_graphics_card_is_replaced(show, whole, browser):
    tab = show(whole)
    if browser.renderer == "WebGL2":
        tab.evaluate(
            """() => localmapPage.explorer.renderer.gl
            .getExtension("WEBGL_lose_context").loseContext()"""
        )
    tab.uncheck("#names")
    row = middle_of(0)
    assert pixel(tab, *place(tab, row)[:2]) != LOOKS["light"].paper
    assert tab.evaluate("localmapPage.explorer.renderer.name") == "Canvas2D"


def test_dark_and_light(show, whole):
    tab = show(whole)
    tab.click("#theme")
    assert pixel(tab, 20, 20) == LOOKS["dark"].paper
    tab.click("#theme")
    assert pixel(tab, 20, 20) == LOOKS["light"].paper


HOSTILE = [
    "</script><script>console.log('ran')</script>",
    "<img src=x onerror=console.log('ran')>",
    "<svg onload=console.log(1)>",
    "javascript:console.log('ran')",
    "{{script}}${alert(1)}",
    "\u202e\u2028\u0000'\"`--><!--",
    '=HYPERLINK("http://localhost/")',
    "x" * 5000,
]


def test_hostile_words_are_words(show):
    labels = np.array(HOSTILE, dtype=object)[np.arange(400) % len(HOSTILE)]
    columns = dict.fromkeys(HOSTILE, labels)
    page = plotting.page(
        Y, labels, columns=columns, title=HOSTILE[0], neighbors=NEIGHBORS
    )
    tab = show(page, "<img src=x onerror=alert(1)>'\"&#.html")
    assert tab.title() == HOSTILE[0]
    assert tab.locator("#title").inner_text() == HOSTILE[0]
    x, y, _ = place(tab, 1)
    tab.mouse.move(x, y)
    assert HOSTILE[1] in tab.locator("#card").inner_text()
    tab.fill("#search", "onerror")
    tab.click("#search-select")
    for word in HOSTILE:
        tab.select_option("#color", label=word)
    name, text = saved(tab, "#csv")
    assert "/" not in name
    assert "<" not in name
    header = next(csv.reader(io.StringIO(text.decode("utf-8-sig"))))
    assert "'" + HOSTILE[6] in header
    saved(tab, "#png")
    strange = "document.querySelectorAll('img, svg, iframe, object, embed').length"
    assert tab.evaluate(strange) == 0
    assert tab.evaluate("document.querySelectorAll('script:not([type])').length") == 0


@pytest.mark.parametrize("n", [1, 2])
def test_tiny_maps(show, n):
    tab = show(plotting.page(np.zeros((n, 2))))
    x, y, _ = place(tab, 0)
    tab.mouse.move(x, y)
    assert tab.locator("#card").inner_text().split("\n") == ["row", "0"] or n == 2
    tab.focus("#overlay")
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Enter")
    assert tab.locator("#selection-count").inner_text() == "1 point selected"


def test_a_notebooks_frame_shows_the_page(browser, whole, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body>{whole._repr_html_()}", encoding="utf-8")
    tab = browser.new_page()
    tab.goto(path.as_uri())
    frame = tab.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(timeout=30_000, state="attached")
    assert frame.locator("#title").inner_text() == "Four winds"
    tab.close()


def test_a_damaged_page_says_so(browser, whole, tmp_path):
    path = tmp_path / "broken.html"
    path.write_text(whole.html.replace('id="block-0">', 'id="block-0">!!'))
    tab = browser.new_page()
    tab.goto(path.as_uri())
    tab.get_by_text("This page could not be shown").wait_for(timeout=10_000)
    tab.close()
