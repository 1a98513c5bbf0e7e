"""TLS for the listening sockets, from a certificate and a key in PEM files."""

from __future__ import annotations

import ssl
from pathlib import Path


class BadCertificate(Exception):
    """Files that cannot be used for TLS; the message is a sentence for the person who named them."""


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """What `serve` needs to speak TLS 1.2 or newer with this certificate (its chain may follow it in the file)."""
    for path in (certificate, key):
        _require_readable(path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])

    def no_password() -> str:
        raise BadCertificate(f"The key in {key} is protected by a password; it has to be stored without one.")

    try:
        context.load_cert_chain(certificate, key, password=no_password)
    except ssl.SSLError as error:
        raise _bad_certificate(error, certificate, key) from error
    return context


def _require_readable(path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise BadCertificate(f"Cannot read {path}: {error.strerror}.") from error


def _bad_certificate(error: ssl.SSLError, certificate: Path, key: Path) -> BadCertificate:
    if error.reason == "KEY_VALUES_MISMATCH":
        return BadCertificate(f"The key in {key} does not belong to the certificate in {certificate}.")
    culprit, kind = (key, "private key") if _holds_certificate(certificate) else (certificate, "certificate")
    return BadCertificate(f"{culprit} does not hold a {kind} in PEM form.")


def _holds_certificate(path: Path) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        return False
    return True
