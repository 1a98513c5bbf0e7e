"""`--tls-self-signed`: a certificate for development, made once by the openssl command and used again afterwards.

What clients are told to trust is an authority whose key is thrown away as soon as it has signed our certificate. So
nobody can make further certificates that those clients would believe.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

from hashrange.http.tls import BadCertificate, TlsFiles

AUTHORITY = "ca.pem"
CERTIFICATE = "server.pem"
KEY = "server.key"

VALID_DAYS = 825  # the longest that Apple's systems believe
SECONDS_LEFT_MIN = 7 * 24 * 3600
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def self_signed(folder: Path, host: str) -> TlsFiles:
    """The certificate in `folder`, made if there is none, if it ends soon, or if it is not for `host`."""
    files = TlsFiles(folder / CERTIFICATE, folder / KEY)
    wanted = names(host)
    if not (_exist(folder) and _still_good(files.certificate, wanted)):
        _make(folder, wanted)
    return files


def names(host: str) -> list[str]:
    """What clients may call the server, in openssl's form."""
    found = ["DNS:localhost", "IP:127.0.0.1", "IP:::1", f"DNS:{socket.gethostname()}"]
    try:
        if not ip_address(host).is_unspecified:
            found.append(f"IP:{ip_address(host)}")
    except ValueError:
        found.append(f"DNS:{host}")
    return list(dict.fromkeys(found))


def _exist(folder: Path) -> bool:
    return all((folder / name).exists() for name in (AUTHORITY, CERTIFICATE, KEY))


def _still_good(certificate: Path, wanted: Sequence[str]) -> bool:
    """Whether it is for these names and valid for a while. Without openssl, what is there has to do."""
    if shutil.which("openssl") is None:
        return True
    for name in wanted:
        kind, _, text = name.partition(":")
        check = "-checkip" if kind == "IP" else "-checkhost"
        if "does match" not in _openssl("x509", "-in", str(certificate), "-noout", check, text):
            return False
    ending = _openssl("x509", "-in", str(certificate), "-noout", "-checkend", str(SECONDS_LEFT_MIN), check=False)
    return "will not expire" in ending


def _make(folder: Path, wanted: Sequence[str]) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            _sign(Path(scratch), wanted)
            for name in (AUTHORITY, KEY, CERTIFICATE):
                os.replace(Path(scratch) / name, folder / name)
    except OSError as error:
        raise BadCertificate(f"A certificate cannot be made in {folder}: {error.strerror}.") from error


def _sign(scratch: Path, wanted: Sequence[str]) -> None:
    """Make an authority, a key, and a certificate for the key, in an empty directory."""
    authority, authority_key = str(scratch / AUTHORITY), str(scratch / "ca.key")
    request, extensions = str(scratch / "request.pem"), scratch / "extensions"
    days = ("-days", str(VALID_DAYS))
    may_sign = ("-addext", "basicConstraints=critical,CA:TRUE,pathlen:0", "-addext", "keyUsage=critical,keyCertSign")
    subject = ("-subj", "/CN=Hashrange development authority")
    _openssl("req", "-x509", *NEW_KEY, *days, *subject, *may_sign, "-keyout", authority_key, "-out", authority)
    _openssl("req", *NEW_KEY, "-subj", "/CN=localhost", "-keyout", str(scratch / KEY), "-out", request)
    extensions.write_text(
        "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=serverAuth\n"
        f"subjectAltName={','.join(wanted)}\n"
    )
    signing = ("-CA", authority, "-CAkey", authority_key, "-CAcreateserial", *days, "-extfile", str(extensions))
    _openssl("x509", "-req", "-in", request, *signing, "-out", str(scratch / CERTIFICATE))


def _openssl(*arguments: str, check: bool = True) -> str:
    try:
        run = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=30)
    except FileNotFoundError:
        raise BadCertificate(
            "--tls-self-signed needs the openssl command to make a certificate, and there is none. "
            "Install it, or name files with --tls-cert and --tls-key."
        ) from None
    except subprocess.TimeoutExpired:
        raise BadCertificate("The openssl command does not come to an end.") from None
    if check and run.returncode != 0:
        reason = (run.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise BadCertificate(f"The openssl command could not make a certificate: {reason}.")
    return run.stdout + run.stderr
