"""TLS: the same door behind a certificate, and a clear sentence about files that cannot be used."""

import os
import shutil
import socket
import ssl
import subprocess
import time
import warnings

import pytest

from hashrange.http.self_signed import self_signed
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


def until(condition):
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


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


def test_tls_1_1_is_refused(toys, files):
    with toys(ssl_context=server_context(*files)) as toy:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", toy.port), timeout=5) as sock, pytest.raises(ssl.SSLError):
            context.wrap_socket(sock)


# ---- Files that change ---------------------------------------------------------------------------------------------


def speaks(client, path=b"/one"):
    client.sendall(b"GET %b HTTP/1.1\r\n\r\n" % path)
    return client.recv(1000).endswith(path)


@pytest.fixture
def changing(tmp_path, files):
    """A certificate and a key that a test may replace."""
    for source, name in zip(files, ("server.pem", "server.key"), strict=True):
        shutil.copy(source, tmp_path / name)
    return tmp_path / "server.pem", tmp_path / "server.key"


def replace(files, others):
    for target, source in zip(files, others, strict=True):
        shutil.copy(source, target.with_suffix(".new"))
        os.replace(target.with_suffix(".new"), target)


def test_a_new_certificate_is_in_force_without_a_restart_and_open_connections_stay(toys, folder, files, changing):
    others = make_certificate(folder, "renewed")
    context = server_context(*changing)
    with toys(ssl_context=context, sweep_seconds=0.02) as toy, handshake(toy, files[0]) as before:
        assert speaks(before)
        replace(changing, others)
        until(lambda: context._current is not context)
        with handshake(toy, others[0]) as after:
            assert after.selected_alpn_protocol() == "http/1.1"
            assert speaks(after)
        with pytest.raises(ssl.SSLCertVerificationError):
            handshake(toy, files[0])
        assert speaks(before, b"/two")


def test_files_that_cannot_be_used_leave_the_old_certificate_in_force(toys, folder, files, changing, caplog):
    _, other_key = make_certificate(folder, "stranger")
    context = server_context(*changing)
    with toys(ssl_context=context, sweep_seconds=0.02) as toy:
        replace(changing, (files[0], other_key))  # as between the copying of one file and of the other
        until(lambda: "does not belong to the certificate" in caplog.text)
        with handshake(toy, files[0]) as client:
            assert speaks(client)
        changing[0].unlink()
        until(lambda: "Cannot read" in caplog.text)
        with handshake(toy, files[0]) as client:
            assert speaks(client)
        assert caplog.text.count("Cannot read") == 1


# ---- Client certificates -------------------------------------------------------------------------------------------


def is_served(toy, server_certificate, client_files=None):
    """Whether the server answers a client. The handshake of TLS 1.3 ends before the server has looked at a client's
    certificate, so its refusal may come with the answer."""
    context = ssl.create_default_context(cafile=server_certificate)
    if client_files is not None:
        context.load_cert_chain(*client_files)
    sock = socket.create_connection(("127.0.0.1", toy.port), timeout=5)
    try:
        with context.wrap_socket(sock, server_hostname="localhost") as client:
            return speaks(client)
    except (ssl.SSLError, ConnectionError):
        return False


def test_clients_need_a_certificate_of_the_authorities(toys, folder, files):
    known, unknown = make_certificate(folder, "known"), make_certificate(folder, "unknown")
    with toys(ssl_context=server_context(*files, known[0])) as toy:
        assert is_served(toy, files[0], known)
        assert not is_served(toy, files[0])
        assert not is_served(toy, files[0], unknown)
        assert len(toy.seen) == 1


def test_new_authorities_replace_the_old_ones(toys, tmp_path, folder, files):
    first, second = make_certificate(folder, "first"), make_certificate(folder, "second")
    authorities = tmp_path / "clients.pem"
    shutil.copy(first[0], authorities)
    context = server_context(*files, authorities)
    with toys(ssl_context=context, sweep_seconds=0.02) as toy:
        assert is_served(toy, files[0], first)
        shutil.copy(second[0], authorities)
        until(lambda: context._current is not context)
        assert is_served(toy, files[0], second)
        assert not is_served(toy, files[0], first)
        assert len(toy.seen) == 2


def test_authorities_that_cannot_be_used_are_explained(folder, files):
    _, key = files
    with pytest.raises(BadCertificate) as caught:
        server_context(*files, key)
    assert str(caught.value) == f"{key} does not hold a certificate in PEM form."


# ---- A certificate of our own --------------------------------------------------------------------------------------


def test_a_certificate_of_our_own_is_made_once_and_trusted_by_its_authority(toys, tmp_path):
    made = self_signed(tmp_path / "tls", "127.0.0.1")
    authority = tmp_path / "tls" / "ca.pem"
    assert sorted(path.name for path in authority.parent.iterdir()) == ["ca.pem", "server.key", "server.pem"]
    assert made.key.stat().st_mode & 0o077 == 0
    with toys(ssl_context=server_context(made.certificate, made.key)) as toy:
        for name in ("localhost", "127.0.0.1"):
            context = ssl.create_default_context(cafile=authority)
            sock = socket.create_connection(("127.0.0.1", toy.port), timeout=5)
            with context.wrap_socket(sock, server_hostname=name) as client:
                assert speaks(client)
    before = made.certificate.read_bytes()
    assert self_signed(tmp_path / "tls", "0.0.0.0") == made
    assert made.certificate.read_bytes() == before


def test_a_certificate_of_our_own_is_made_anew_for_another_name(tmp_path):
    made = self_signed(tmp_path, "127.0.0.1")
    before = made.certificate.read_bytes()
    self_signed(tmp_path, "db.example.test")
    assert made.certificate.read_bytes() != before
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)


def test_without_openssl_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadCertificate, match=r"needs the openssl command to make a certificate, and there is none\."):
        self_signed(tmp_path / "tls", "127.0.0.1")
