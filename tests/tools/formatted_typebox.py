"""For each format that was rewritten after 0.85.0, texts that were of it before and texts that were not.

All as 0.85.0 and 0.80.2 judge them; `ONLY_0_80` holds texts that 0.80.2 alone takes.
"""

from __future__ import annotations

OLDER_GOOD: dict[str, tuple[str, ...]] = {
    "date-time": ("2024-01-01T24:59:00+01:00", "2024-01-01t23:59:60.5Z"),
    "email": ("a.b@c.d", "A@B", "a@" + "x" * 63),
    "hostname": ("xn--a", "xn--bcher-kva.ch", "XN--BCHER-KVA", "a" * 63, "xn--ls8h.la"),
    "idn-email": ("é@ü", "a@b-c", "a@" + "é" * 63, "ſ@\u212a"),
    "idn-hostname": ("l·l", "・ア", "א٠1", "a٠", "①", "0א", "é" * 63, "a。b", "א\u200cb", "क्\u200dष", "xn--a"),
    "ipv6": ("::", "1::", "1:2:3:4:5:6:7:8:", "::1:", "1::2:", "::1.2.3.4"),
    "iri": ("http://a/b c", "foo:bar", "http://x/%zz", "file:///a|b"),
    "iri-reference": ("", "/é", "http//a:b", "a//b:"),
    "regex": (r"\_", r"\1", "{", r"\p{Foo}", r"[\d-z]", r"\c", "(?=a)*"),
    "time": ("24:59:00+01:00", "23:60:10+00:01", "23:59:60.5Z", "12:00:00z"),
    "uri": ("http://[x]", "a://é/", "a:b#c#d", "http://u%41:p@h", "http://h:", "a:", "a://[::1]b"),
    "uri-reference": ('a"b', "#a#b", "\x7f", "a%zz", "1:b", ""),
    "uri-template": ("{a:3}", "{+a,b*}", "{%41}", "\x7f"),
    "url": (
        "http://a.bc", "https://x-y.zz:80/", "ftp://u:p@h.co:8080/p?q", "http://11.0.0.1", "http://172.32.0.1",
        "http://223.5.5.254:99999", "http://é.com/ü", "http\u017f://a.co",
    ),
    "uuid": ("123E4567-e89b-12d3-a456-426614174000",),
}  # fmt: skip

OLDER_BAD: dict[str, tuple[str, ...]] = {
    "date-time": ("2024-01-01T12:00:00", "2024-01-01T12:00:00ZT"),
    "email": ("a..b@c", "a@b-", "a@[1.2.3.4]", '"a b"@c.de', "a@" + "x" * 64),
    "hostname": ("a.", "-a", "ab--c", "a" * 64, "", "é", "xn--"),
    "idn-email": ("a..b@ü", '"x y"@ü', "a@b-", "a@" + "é" * 64, "e\u0301@b"),
    "idn-hostname": ("", "a b", "・a", "٠۰", "\u0301a", "ab--c", "é" * 64, "L·L", "a\u200db"),
    "ipv6": (":::", "1:", "::1.2.3.4:", "1.2.3.4::", "fe80::1%eth0", "::12345"),
    "iri": ("a", "http://[v1.x]/"),
    "iri-reference": ("http//x", "a b", "a\\b", "%zz", "http://a:99999/"),
    "regex": ("", "[", "(", "a{2,1}", "[b-a]", r"(?<a>x)\k<b>", r"\b+"),
    "time": ("12:00:00", "25:00:00Z", "23:59:61Z", "12:00:00+24:00", "12:00:60Z"),
    "uri": ("http://[x]@h", "http://h:80x", "a://h%41/", "1:", "a:%4", "a://u@v@w", "a:é", "a b:c"),
    "uri-reference": ("a b", "é", "a\\b", "[x]", "\n"),
    "uri-template": ("{a:0}", "'", "{a.b}", "{}", "{a,}", 'a"b', "{\u017f}"),
    "url": (
        "http://a", "http://10.0.0.1", "http://127.0.0.1/", "http://192.168.1.1", "http://172.16.0.1", "http://1.1.1.0",
        "http://a.co?x", "http://a--b.co", "http://😀.com", "javascript:1", "http://a.co:1",
    ),
    "uuid": ("123e4567e89b12d3a456426614174000", "urn:uuid:urn:uuid:123e4567-e89b-12d3-a456-426614174000"),
}  # fmt: skip

ONLY_0_80: dict[str, tuple[str, ...]] = {
    "hostname": ("xn---9uc",),
    "idn-hostname": ("ab\u200cc",),
    "uuid": (
        "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
        "URN:UUID:123E4567-e89b-12d3-a456-426614174000",
    ),
}
