"""What the tools do, in plain Python: no word of WebAssembly here, so `python3 -m doctest words.py` tests it."""

import heapq
import re
import unicodedata
from collections import Counter
from operator import itemgetter

# Letters and digits of any script, with apostrophes and hyphens inside: "don't" and "well-known" are one word each.
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def word_count(text: str, top: int = 0) -> dict[str, object]:
    """Counts words, characters and lines; with `top`, also names the most frequent words.

    >>> word_count("To be, or not to be.", top=2)
    {'words': 6, 'characters': 20, 'lines': 1, 'frequent': {'to': 2, 'be': 2}}
    >>> word_count("")
    {'words': 0, 'characters': 0, 'lines': 0}
    """
    words = WORD.findall(text)
    counts: dict[str, object] = {"words": len(words), "characters": len(text), "lines": len(text.splitlines())}
    if top:
        # Not `Counter.most_common`: it imports heapq when called, and a component can import only while it is built.
        frequency = Counter(word.casefold() for word in words)
        counts["frequent"] = dict(heapq.nlargest(top, frequency.items(), key=itemgetter(1)))
    return counts


def slugify(text: str) -> str:
    """Turns text into lower-case ASCII words with hyphens between them, as for an address or a file name.

    >>> slugify("  Crème brûlée: the Basics! ")
    'creme-brulee-the-basics'

    Text without any letter or digit that ASCII can write has no slug:

    >>> slugify("!!!")
    Traceback (most recent call last):
    ValueError: nothing in the text can be part of a slug
    """
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    slug = "-".join(re.findall(r"[a-z0-9]+", ascii_text.lower()))
    if not slug:
        raise ValueError("nothing in the text can be part of a slug")
    return slug
