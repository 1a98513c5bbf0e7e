"""TLS for the listening sockets: a certificate and a key in PEM files, read again when they change.

Connections that are open keep what they were opened with. A handshake asks the context that the sockets know which
context is the current one, so that new files are in force from the next connection on, and files that cannot be used
never are.
"""

from __future__ import annotations

import logging
import os
import ssl
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger("hashrange.server")

Stamp = tuple[tuple[int, int, int] | None, ...]


class BadCertificate(Exception):
    """Files that cannot be used for TLS; the message is a sentence for the person who named them."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """What to serve HTTPS with. With `client_authorities`, clients need a certificate that one of these has signed."""

    certificate: Path  # its chain may follow it in the file
    key: Path
    client_authorities: Path | None = None

    def paths(self) -> tuple[Path, ...]:
        clients = () if self.client_authorities is None else (self.client_authorities,)
        return (self.certificate, self.key, *clients)

    def stamp(self) -> Stamp:
        """Something that changes when one of the files is written or replaced."""
        return tuple(map(_stamp, self.paths()))


class LiveContext(ssl.SSLContext):
    """A context for sockets that outlive their certificate."""

    files: TlsFiles
    authority: Path | None = None  # what clients have to trust, if the certificate is of our own making
    _current: ssl.SSLContext
    _stamp: Stamp

    def refresh(self) -> None:
        """Take over files that have changed, if they can be used; otherwise say so once and go on as before."""
        stamp = self.files.stamp()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._current = configured(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self.files)
        except BadCertificate as error:
            log.error("the new TLS files cannot be used; the old certificate stays in force: %s", error)
        else:
            log.info("new TLS files are in force: %s", ", ".join(map(str, self.files.paths())))

    def use(self, files: TlsFiles) -> None:
        self.files = files
        self._stamp = files.stamp()
        self._current = configured(self, files)
        self.sni_callback = self._choose

    def _choose(self, handshake: ssl.SSLSocket | ssl.SSLObject, name: str | None, asked: ssl.SSLContext) -> None:
        """Called early in every handshake, whether or not the client names a server."""
        if self._current is not self:
            handshake.context = self._current


def server_context(certificate: Path, key: Path, client_authorities: Path | None = None) -> LiveContext:
    """What `serve` needs to speak TLS 1.2 or newer with these files; `BadCertificate` if they cannot be used."""
    context = LiveContext(ssl.PROTOCOL_TLS_SERVER)
    context.use(TlsFiles(certificate, key, client_authorities))
    return context


def configured(context: ssl.SSLContext, files: TlsFiles) -> ssl.SSLContext:
    for path in files.paths():
        _require_readable(path)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    _load_certificate(context, files)
    if files.client_authorities is not None:
        _require_client_certificates(context, files.client_authorities)
    return context


def _load_certificate(context: ssl.SSLContext, files: TlsFiles) -> None:
    def no_password() -> str:
        raise BadCertificate(f"The key in {files.key} is protected by a password; it has to be stored without one.")

    try:
        context.load_cert_chain(files.certificate, files.key, password=no_password)
    except ssl.SSLError as error:
        raise _bad_certificate(error, files.certificate, files.key) from error


def _require_client_certificates(context: ssl.SSLContext, authorities: Path) -> None:
    try:
        context.load_verify_locations(authorities)
    except ssl.SSLError as error:
        raise BadCertificate(f"{authorities} does not hold a certificate in PEM form.") from error
    context.verify_mode = ssl.CERT_REQUIRED
    context.options |= ssl.OP_NO_TICKET  # a session taken up again would not be checked against new authorities
    context.num_tickets = 0


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


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
