"""Which URLs may be called (SEC-91, SEC-92, SEC-93)."""

# ruff: noqa: RUF001  # digits of other scripts are what is tested

from __future__ import annotations

import ipaddress

import pytest

from app.outbound.addresses import Target, UrlError, is_public, read_url

LOOPBACK = [
    "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "0", "0.0.0.0", "2130706433",
    "017700000001", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "0177.0.0.0x1", "127.0.0.1.", "1.1",
    "00000177.1", "localhost", "LOCALHOST", "localhost.", "a.localhost", "localhost.localdomain",
    "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[::127.0.0.1]", "[64:ff9b::7f00:1]", "１２７.0.0.1", "①②⑦.⓪.⓪.①", "127。0。0。1", "ⓛocalhost",
    "0x", "127.0.0.0x1", "4294967297", "256.1.1.1",
]  # fmt: skip
INSIDE = [
    "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "100.100.100.200", "192.0.0.192", "198.18.0.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "192.88.99.1", "168.63.129.16", "203.0.113.5", "[fe80::1]", "[fc00::1]",
    "[fd00:ec2::254]", "[ff02::1]", "[2002:7f00:1::]", "[64:ff9b:1::1]", "[2001:db8::1]",
    "[2001::1]", "[3fff::1]", "[5f00::1]", "[fec0::1]", "[::ffff:8.8.8.8]", "[100::1]",
    "metadata.google.internal", "printer.local", "db", "intranet", "nas.home.arpa", "router.lan",
    "a.corp", "host.private",
]  # fmt: skip
BROKEN = [
    "", "http://", "https:///hook", "example.com/hook", "//example.com", "ftp://example.com",
    "file:///etc/passwd", "gopher://example.com", "javascript:alert(1)", "data:text/plain,x",
    "http://user@example.com", "http://user:secret@example.com", "http://:secret@example.com",
    "http://@example.com", "http://example.com:0", "http://example.com:65536",
    "http://example.com:x", "http://example.com:-1", "http://exa mple.com",
    "http://example.com\\@10.0.0.1", "http://example.com/\r\nX: y", "http://example.com/\x00",
    "http://[::1", "http://[::1%25lo]/", "http://%31%32%37.0.0.1/", "http://-example.com",
    "http://example..com", "http://exam[ple.com", "http://" + "a" * 64 + ".com",
    "http://" + "a." * 130 + "com", "https://example.com/" + "a" * 2048,
    "http://foo@bar@example.com", "http://example.com℀.internal/", "http://1.2.3.4.5",
    "http://1.2.3",
]  # fmt: skip


@pytest.mark.requirement("SEC-92", "SEC-93")
@pytest.mark.parametrize("host", LOOPBACK + INSIDE)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_addresses_inside_are_refused_in_every_spelling(scheme: str, host: str) -> None:
    with pytest.raises(UrlError):
        read_url(f"{scheme}://{host}/hook")
    with pytest.raises(UrlError):
        read_url(f"{scheme}://{host}:8080/hook")


@pytest.mark.requirement("SEC-91")
@pytest.mark.parametrize("url", BROKEN)
@pytest.mark.parametrize("allow_private", [False, True])
def test_what_is_no_plain_url_is_refused_everywhere(url: str, allow_private: bool) -> None:
    with pytest.raises(UrlError):
        read_url(url, allow_private=allow_private)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.com/hook?a=1", Target("https", "example.com", 443, "/hook?a=1")),
        ("HTTP://Example.COM", Target("http", "example.com", 80, "/")),
        ("https://example.com.:8443/", Target("https", "example.com", 8443, "/")),
        ("http://93.184.216.34/x", Target("http", "93.184.216.34", 80, "/x")),
        ("http://[2606:4700::1111]:8080/", Target("http", "2606:4700::1111", 8080, "/")),
        ("https://bücher.example/ü", Target("https", "xn--bcher-kva.example", 443, "/%C3%BC")),
        ("https://my_hooks.eu/%2F?x=%20#part", Target("https", "my_hooks.eu", 443, "/%2F?x=%20")),
        ("https://unknown.invalid/", Target("https", "unknown.invalid", 443, "/")),
    ],
)
def test_public_urls_lead_where_they_say(url: str, target: Target) -> None:
    assert read_url(url) == target


def test_ports_of_other_services_are_refused() -> None:
    for port in (22, 25, 443 - 1, 1023):
        with pytest.raises(UrlError):
            read_url(f"https://example.com:{port}/")
    assert read_url("https://example.com:443/").port == 443


def test_production_wants_https() -> None:
    with pytest.raises(UrlError, match="https"):
        read_url("http://example.com/", https_only=True)
    assert read_url("https://example.com/", https_only=True)


@pytest.mark.parametrize(
    "host", ["127.0.0.1:25", "localhost", "[::1]:8080", "hooks.internal", "db"]
)
def test_a_laptop_may_call_itself(host: str) -> None:
    assert read_url(f"http://{host}/", allow_private=True, https_only=True).scheme == "http"


@pytest.mark.requirement("SEC-94")
def test_refusals_of_addresses_do_not_tell_them_apart() -> None:
    texts = set()
    for host in ("127.0.0.1", "10.1.2.3:8080", "169.254.169.254", "a.internal", "[::1]"):
        with pytest.raises(UrlError) as caught:
            read_url(f"http://{host}/")
        texts.add(str(caught.value))
    assert texts == {"must be a public address"}


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001::1"]
)
def test_public_addresses(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


def test_host_header_has_the_port_only_where_it_is_unusual() -> None:
    assert read_url("https://example.com:443/").header == "example.com"
    assert read_url("http://[2606:4700::1]:8080/").header == "[2606:4700::1]:8080"
