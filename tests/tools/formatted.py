"""For each format, texts that are of it and texts that are not, mostly near the border; all as Pi 1.6.0 judges them."""

from __future__ import annotations

GOOD: dict[str, tuple[str, ...]] = {
    "date": ("2024-02-29", "0000-02-29", "2000-12-31"),
    "time": ("12:30:00Z", "23:59:60Z", "22:59:60-01:00", "00:29:60+00:30", "12:00:00.123+23:59"),
    "date-time": ("2024-01-01T00:00:00Z", "2024-01-01t23:59:60.5+00:00"),
    "duration": ("P1Y2M3DT4H5M6S", "PT1H", "P3W", "P1YT1S", "P1M1D"),
    "email": ("a.b@c.de", '"a b"@c-d.e', "a@[1.2.3.4]", "a@[IPv6:::1]", "x+y!#$@d.e", "a@[ipv6:1]", '"\\""@x'),
    "hostname": ("a.b-c.d", "xn--4gbwdl.xn--wgbh1c", "a--b.c", "xn--zca", "a" * 63 + ".b", "xn--bcher-kva.ch"),
    "idn-email": ("é@ü.de", "日本@日本", "a.b@ç-d.e", '"x y"@ü', "\u0345@\u0345.x", "ſ@k"),
    "idn-hostname": (
        "bücher.de", "日本。jp", "l·l", "क्\u200dष", "・ア", "אב.גד", "א1", "ｅｘ．com", "xn--bcher-kva.de", "א׳",
        "͵α", "é" * 20, "a\xadb", "سلام.com", "ß", "〇",
    ),
    "ipv4": ("1.2.3.4", "255.255.255.255"),
    "ipv6": (
        "::", "::1", "1:2:3:4:5:6:7:8", "1::", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7::",
        "::2:3:4:5:6:7:8",
    ),
    "iri": ("http://é.com/ü?q#f", "foo:bar", "http://[v1.x]/", "urn:x:é", "http://[::1]:80/"),
    "iri-reference": ("/é", "//a/b", "#f", "?q", "a:b", "%41", "../x"),
    "json-pointer": ("", "/a~0b/~1", "/"),
    "json-pointer-uri-fragment": ("#", "#/a%20b", "#/~0"),
    "regex": (
        "a|b", r"(?<x>a)\k<x>", r"\p{L}", "(?:)", "(?<=a)b", r"\u{1F600}", "(?i:a)", "(?<a>x)|(?<a>y)", r"\cA",
    ),
    "relative-json-pointer": ("0", "1/a", "2#", "0/~0"),
    "uri": (
        "http://a.b/c?d=e#f", "urn:x:y", "http://[::1]:80/", "http://u:p@h:1/", "http://[v1.x:y]/", "mailto:a@b",
        "a:/b//c", "a://",
    ),
    "uri-reference": (
        "a/b:c", "a:b", "./a:b", "//h/p", "?q#f", "#", "", "a//b", "http:", "///x", "/a//b", "//u@h:",
    ),
    "uri-template": ("/a/{b}{?c,d*}", "{+x:3}", "{a.b}", "%41", "{=x}"),
    "url": (
        "http://a", "http://[::1]", "http://é", "HTTP:\\\\x", "javascript:1", " http://a ", "http://%41/",
        "http://1.2.3", "blob:x",
    ),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000",),
}  # fmt: skip

BAD: dict[str, tuple[str, ...]] = {
    "date": ("1900-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-1-1", "2024-01-01\n", "２０２４-01-01"),
    "time": ("12:00:00", "24:00:00Z", "12:60:00Z", "12:00:61Z", "12:00:60Z", "12:00:00+24:00", "12:00:00+01:60"),
    "date-time": ("2024-01-01 00:00:00Z", "2024-01-01T00:00:00", "2024-01-01TT00:00:00Z"),
    "duration": ("P1Y2D", "PT", "P", "PT1H1S"),
    "email": ("a..b@c", "a@-c", "a@[1.2.3.256]", "a", "@a"),
    "hostname": ("-a", "a-", "xn--a", "xn--ls8h.la", "", "a.", "a" * 64, "ab--c", "xn---9uc", "xn--", "é.x"),
    "idn-email": ("a@b-", "a b@c", "@c", "a@"),
    "idn-hostname": (
        "a·l", "ab\u200cc", "・a", "א٠1", "a٠", "\u0301a", "ـ", "①", "ab--c", "0א", "", "a b", "é" * 60,
        ".".join(["é" * 30] * 9), "xn--a", "aא",
    ),
    "ipv4": ("01.2.3.4", "256.1.1.1", "1.2.3"),
    "ipv6": ("fe80::1%eth0", "12345::", "1::2::3", "::1.2.3.256", "1:2:3:4:5:6:7:1.2.3.4"),
    "iri": ("http://a b", "a", "http://x/%zz", "http://a:99999/", "file:///a|b"),
    "iri-reference": ("http//x", "http://[x]", "\\", "http://a:b"),
    "json-pointer": ("/~2", "a"),
    "json-pointer-uri-fragment": ("#a", "/a"),
    "regex": ("[", r"\_", "a{2,1}", "[b-a]", r"\p{Foo}", r"\1", "{", "a**", r"\c", r"[\d-z]", "(?=a)*", r"\b+"),
    "relative-json-pointer": ("01", "#"),
    "uri": ("a", "//a", "http://[1:2]/", "x:%41%zz", "a:b c", "http://[::1]x"),
    "uri-reference": ("1:b", "#a#b", "//[1:2]"),
    "uri-template": ("{", "}", "{a..b}", "{x:0}", "{x:10000}", "%zz", "{}"),
    "url": ("a", "http://a:65536", "http://256.1", "http://a%00b", "http://xn--a/", "http://\xad"),
    "uuid": ("123E4567e89b12d3a456426614174000", "g23e4567-e89b-12d3-a456-426614174000"),
}  # fmt: skip
