"""The frame that all pages share: one HTML file that needs no network and no other file.

Whatever text goes into a page goes through `escape`, or through `data` as JSON. A policy in the
page names the scripts and styles by their hashes, so that a browser runs nothing else.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from importlib import resources
from string import Template

from mt.files.digests import sha256

_FRAME = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="$policy">
<title>$title</title>
<style>$style</style>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<main id="main" tabindex="-1">
$body
</main>
<script type="application/json" id="data">$data</script>
<script>$script</script>
</body>
</html>
""")


def escape(text: str) -> str:
    """`text` for the content of an element or for an attribute in quotes."""
    return html.escape(text, quote=True)


def breakable(text: str, after: str = "|") -> str:
    """`text` as `escape` gives it, that may break after each of a character."""
    return f"{after}<wbr>".join(map(escape, text.split(after)))


def script_json(value: object) -> str:
    """JSON that may stand in a script element: nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def asset(name: str) -> str:
    """The text of a style, script or template that lies in `mt/reporting/assets`."""
    return (resources.files("mt.reporting") / "assets" / name).read_text("utf-8")


def page(
    *, title: str, body: str, data: object, styles: Sequence[str], scripts: Sequence[str]
) -> str:
    """A whole page: `body` is HTML, `data` what scripts read from the element `data`.

    `styles` and `scripts` are names of assets; `page.css` comes before them. Raises ValueError
    for data that JSON has no form for, infinities among them.
    """
    style = "\n".join(map(asset, ("page.css", *styles)))
    script = "\n".join(map(asset, scripts))
    return _FRAME.substitute(
        policy=f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        title=escape(title),
        style=style,
        body=body,
        data=script_json(data),
        script=script,
    )


def _hash(text: str) -> str:
    """How a content security policy names an inline style or script."""
    digest = bytes.fromhex(sha256([text.encode("utf-8")]))
    return f"'sha256-{base64.b64encode(digest).decode()}'"
