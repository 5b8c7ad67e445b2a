"""Characters that nobody sees: where they do their work in a script or an emoji they pass, and everywhere else they are shown.

Whatever is ignored when it is shown is an alphabet: bytes could be written in it behind any letter. So each passes only behind a
character that takes it, one at a time, and only where it changes what is seen. Where it would say what is so anyway it is left out.
"""

import re
import unicodedata
from functools import lru_cache

_WORKING = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_SPACES = "Zs"
_HARMLESS = frozenset("\n\t")
# Unicode's Default_Ignorable_Code_Point, then what shows nothing without being called that, then what is no character.
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "\u2800\U00016fe4\U0001d159"
    "\ufdd0-\ufdef" + "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(17)) + "]"
)
_AS_TEXT, _AS_EMOJI, _KEYCAP = "\ufe0e", "\ufe0f", "\u20e3"
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_KEYS = re.compile("[#*0-9]")
# Signs that are text unless the selector behind them says emoji.
_TEXT_FIRST = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u2328\u23cf\u23ed-\u23ef\u23f1\u23f2\u23f8-\u23fa\u24c2\u25aa"
    "\u25ab\u25b6\u25c0\u25fb\u25fc\u2600-\u2604\u260e\u2611\u2618\u261d\u2620\u2622\u2623\u2626\u262a\u262e\u262f\u2638-\u263a\u2640"
    "\u2642\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e\u2692\u2694-\u2697\u2699\u269b\u269c\u26a0\u26a7\u26b0\u26b1\u26c8\u26cf"
    "\u26d1\u26d3\u26e9\u26f0\u26f1\u26f4\u26f7-\u26f9\u2702\u2708\u2709\u270c\u270d\u270f\u2712\u2714\u2716\u271d\u2721\u2733\u2734"
    "\u2744\u2747\u2763\u2764\u27a1\u2934\u2935\u2b05-\u2b07\u3030\u303d\u3297\u3299\U0001f170\U0001f171\U0001f17e\U0001f17f\U0001f202"
    "\U0001f237\U0001f321\U0001f324-\U0001f32c\U0001f336\U0001f37d\U0001f396\U0001f397\U0001f399-\U0001f39b\U0001f39e\U0001f39f"
    "\U0001f3cb-\U0001f3ce\U0001f3d4-\U0001f3df\U0001f3f3\U0001f3f5\U0001f3f7\U0001f43f\U0001f441\U0001f4fd\U0001f549\U0001f54a"
    "\U0001f56f\U0001f570\U0001f573-\U0001f579\U0001f587\U0001f58a-\U0001f58d\U0001f590\U0001f5a5\U0001f5a8\U0001f5b1\U0001f5b2"
    "\U0001f5bc\U0001f5c2-\U0001f5c4\U0001f5d1-\U0001f5d3\U0001f5dc-\U0001f5de\U0001f5e1\U0001f5e3\U0001f5e8\U0001f5ef\U0001f5f3"
    "\U0001f5fa\U0001f6cb\U0001f6cd-\U0001f6cf\U0001f6e0-\U0001f6e5\U0001f6e9\U0001f6f0\U0001f6f3]"
)
_EMOJI = re.compile(
    "[\u231a\u231b\u23e9-\u23f3\u25fd\u25fe\u2605-\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001faff\U0001fc00-\U0001fffd]"
)
_SKIN = re.compile("[\U0001f3fb-\U0001f3ff]")
# People and the few others that are joined to something, and what there is to be joined to.
_JOINED = re.compile(
    "[\u261d\u2640\u2642\u2764\u26d3\u26f9\u270a-\u270d\U0001f344\U0001f34b\U0001f385\U0001f3c2-\U0001f3c4\U0001f3c7\U0001f3ca-\U0001f3cc"
    "\U0001f3f3\U0001f3f4\U0001f408\U0001f415\U0001f426\U0001f43b\U0001f441-\U0001f443\U0001f446-\U0001f450\U0001f466-\U0001f478\U0001f47c"
    "\U0001f481-\U0001f483\U0001f485-\U0001f487\U0001f48b\U0001f48f\U0001f491\U0001f575\U0001f62e\U0001f635\U0001f636\U0001f642"
    "\U0001f645-\U0001f647\U0001f64b-\U0001f64f\U0001f6a3\U0001f6b4-\U0001f6b6\U0001f926\U0001f930-\U0001f939\U0001f93c-\U0001f93e"
    "\U0001f9af\U0001f9b8\U0001f9b9\U0001f9bc\U0001f9bd\U0001f9cd-\U0001f9cf\U0001f9d1-\U0001f9df\U0001fac3-\U0001fac5\U0001faf1]"
)
_JOINING = re.compile(
    "[\u2194\u2195\u2620\u2640\u2642\u2695\u2696\u26a7\u2708\u2744\u2764\u27a1\u2b1b\U0001f308\U0001f32b\U0001f33e\U0001f373\U0001f37c"
    "\U0001f384\U0001f393\U0001f3a4\U0001f3a8\U0001f3eb\U0001f3ed\U0001f466-\U0001f469\U0001f48b\U0001f4a5\U0001f4a8\U0001f4ab"
    "\U0001f4bb\U0001f4bc\U0001f525\U0001f527\U0001f52c\U0001f5e8\U0001f680\U0001f692\U0001f7e9\U0001f7eb\U0001f91d\U0001f9af-\U0001f9b3"
    "\U0001f9ba\U0001f9bc\U0001f9bd\U0001f9d1\U0001f9d2\U0001fa79\U0001faf2]"
)
_FLAG = re.compile(
    "\U0001f3f4(?:\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073))\U000e007f"
)
_FLAG_LENGTH = 7
_CURSIVE = re.compile(
    "[\u0620-\u064a\u066e-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06ff\u0710-\u072f\u074d-\u077f\u07ca-\u07ea\u0840-\u0858\u0860-\u088e\u08a0-\u08c8]"
)
# Of those, letters that are not joined to what follows them, or to nothing at all.
_ENDING = re.compile(
    "[\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef"
    "\u0710\u0715-\u0719\u071e\u0728\u072a\u072c\u072f\u074d\u0759-\u075b\u076b\u076c\u0771\u0773\u0774\u0778\u0779\u0840\u0846\u0847\u0849"
    "\u0854\u0856-\u0858\u0861\u0866\u0867\u0869\u086a\u0870-\u0885\u0887\u0888\u088e\u08aa-\u08ae\u08b1\u08b2\u08b9]"
)
_ALONE = re.compile("[\u0621\u0674\u0856-\u0858\u0861\u0866\u0883-\u0885\u0887\u0888\u08ad]")
_VIRAMA = 9  # its combining class
_RA = "\u09b0\u0cb0"  # whose forms before a virama are two
_MONGOLIAN = re.compile("[\u1820-\u1878\u1880-\u18aa]")
_VARIANTS = re.compile("[\u180b-\u180d\u180f]")
_SURROGATE = 0x10000


def visible(text: str) -> str:
    """Text in which characters that nobody sees can be seen instead of working, and every space is the one that there is."""
    if text.isascii() and text.isprintable():
        return text
    hidden = {char for char in set(text) if is_hidden(char)}
    if not hidden:
        return text
    return "".join(_shown(text, at) if char in hidden else char for at, char in enumerate(text))


def visible_json(raw: str) -> str:
    """JSON that says the same, with whatever nobody sees in its strings as an escape."""
    hidden = {char for char in set(raw) if char > "\x7e" and is_hidden(char)}
    return raw.translate({ord(char): _in_json(char) for char in hidden}) if hidden else raw


@lru_cache(maxsize=4096)
def is_hidden(char: str) -> bool:
    """Whether a character is not seen, or is a space that only looks like one."""
    kind = unicodedata.category(char)
    if kind == _SPACES:
        return char not in " \u3000"
    return (kind in _WORKING or _IGNORED.match(char) is not None) and char not in _HARMLESS


def _shown(text: str, at: int) -> str:
    """What stands for the hidden character at a place."""
    char = text[at]
    if unicodedata.category(char) == _SPACES:
        return " "
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char in (_AS_TEXT, _AS_EMOJI):
        return _selector(char, before, after)
    if char in (_JOINER, _NON_JOINER):
        return char if char == _JOINER and _joins_emoji(text, at) else _joiner(text, at)
    return char if _is_mongolian(char, before, after) or _in_flag(text, at) else _escaped(char)


def _selector(char: str, before: str, after: str) -> str:
    """How a sign is to look. One that is an emoji anyway, or text, needs none."""
    if char == _AS_EMOJI and (_TEXT_FIRST.match(before) or (_KEYS.match(before) and after == _KEYCAP)):
        return char
    return "" if _TEXT_FIRST.match(before) or _EMOJI.match(before) else _escaped(char)


def _joins_emoji(text: str, at: int) -> bool:
    last = at - 1
    if text[last : last + 1] == _AS_EMOJI and last > 0:
        last -= 1
    if last > 0 and _SKIN.match(text[last]):
        last -= 1
    return last >= 0 and _JOINED.match(text[last]) is not None and _JOINING.match(text, at + 1) is not None


def _joiner(text: str, at: int) -> str:
    """A joiner as scripts use it: behind a virama, or where it changes how cursive letters meet. Between others of them it is left out."""
    char, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if before and unicodedata.combining(before) == _VIRAMA:
        return char
    if char == _JOINER and before and before in _RA and after and unicodedata.combining(after) == _VIRAMA:
        return char
    left, right = _letter(text, at, -1), _letter(text, at, 1)
    if not _CURSIVE.match(left):
        return _escaped(char)
    meets = not _ENDING.match(left)
    met = _CURSIVE.match(right) is not None and not _ALONE.match(right)
    return char if meets and met is (char == _NON_JOINER) else ""


def _letter(text: str, at: int, step: int) -> str:
    """The next letter to one side, past the marks on it."""
    at += step
    while 0 <= at < len(text) and unicodedata.combining(text[at]):
        at += step
    return text[at] if 0 <= at < len(text) else ""


def _is_mongolian(char: str, before: str, after: str) -> bool:
    """Whether it chooses the form of a letter, or sets a last vowel apart."""
    chooses = _VARIANTS.match(char) is not None or (char == "\u180e" and after in ("\u1820", "\u1821"))
    return chooses and _MONGOLIAN.match(before) is not None


def _in_flag(text: str, at: int) -> bool:
    """Whether it belongs to one of the three flags that are written in tags."""
    first = text.rfind("\U0001f3f4", max(at - _FLAG_LENGTH, 0), at)
    return first >= 0 and (flag := _FLAG.match(text, first)) is not None and at < flag.end()


def _in_json(char: str) -> str:
    code = ord(char)
    if code < _SURROGATE:
        return f"\\u{code:04x}"
    code -= _SURROGATE
    return f"\\u{0xD800 | code >> 10:04x}\\u{0xDC00 | code & 0x3FF:04x}"


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code < _SURROGATE else f"\\U{code:08x}"
