"""TLS: the same door behind a certificate, and a clear sentence about files that cannot be used."""

import shutil
import socket
import ssl
import subprocess

import pytest

from hashrange.http.tls import BadCertificate, server_context

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates")


def make_certificate(folder, name, *options):
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    protection = options or ("-nodes",)
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", *protection]
    command += ["-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def files(folder):
    return make_certificate(folder, "good")


def handshake(toy, certificate, **versions):
    context = ssl.create_default_context(cafile=certificate)
    context.set_alpn_protocols(["h2", "http/1.1"])
    for name, version in versions.items():
        setattr(context, name, version)
    return context.wrap_socket(
        socket.create_connection(("127.0.0.1", toy.port), timeout=5), server_hostname="localhost"
    )


def test_requests_are_answered_over_tls(toys, files):
    with toys(ssl_context=server_context(*files)) as toy, handshake(toy, files[0]) as client:
        assert client.selected_alpn_protocol() == "http/1.1"
        client.sendall(b"GET /one HTTP/1.1\r\n\r\nGET /big?2000000 HTTP/1.1\r\nConnection: close\r\n\r\n")
        received = client.makefile("rb").read()
        assert received.count(b"HTTP/1.1 200 OK") == 2
        assert received.endswith(b"x" * 2_000_000)


def test_a_refusal_arrives_over_tls(toys, files):
    with toys(ssl_context=server_context(*files)) as toy, handshake(toy, files[0]) as client:
        client.sendall(b"garbage\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 400 ")


def test_tls_1_2_is_spoken_and_is_the_configured_minimum(toys, files):
    context = server_context(*files)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    with toys(ssl_context=context) as toy, handshake(toy, files[0], maximum_version=ssl.TLSVersion.TLSv1_2) as client:
        assert client.version() == "TLSv1.2"


def test_files_that_cannot_be_used_are_explained(folder, files):
    certificate, key = files
    _, other_key = make_certificate(folder, "other")
    _, locked_key = make_certificate(folder, "locked", "-passout", "pass:secret")
    missing, text = folder / "missing.pem", folder / "text.pem"
    text.write_text("not a certificate")
    for pair, sentence in {
        (missing, key): f"Cannot read {missing}: No such file or directory.",
        (certificate, missing): f"Cannot read {missing}: No such file or directory.",
        (text, key): f"{text} does not hold a certificate in PEM form.",
        (certificate, text): f"{text} does not hold a private key in PEM form.",
        (key, key): f"{key} does not hold a certificate in PEM form.",
        (certificate, other_key): f"The key in {other_key} does not belong to the certificate in {certificate}.",
        (folder, key): f"Cannot read {folder}: Is a directory.",
    }.items():
        with pytest.raises(BadCertificate) as caught:
            server_context(*pair)
        assert str(caught.value) == sentence
    with pytest.raises(BadCertificate, match="protected by a password"):
        server_context(certificate, locked_key)
