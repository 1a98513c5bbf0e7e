"""What `serve` needs for HTTPS, from its options, and what clients have to be told about it."""

from __future__ import annotations

from pathlib import Path

from hashrange.cli.options import DEFAULT_DATA, Options
from hashrange.http.tls import LiveContext, server_context
from hashrange.storage import files


def context_of(options: Options) -> LiveContext | None:
    """The context to serve HTTPS with; None to serve HTTP."""
    clients = None if options.tls_client_ca is None else Path(options.tls_client_ca)
    if options.tls_cert is not None:
        return server_context(Path(options.tls_cert), Path(options.tls_key), clients)
    if not options.tls_self_signed:
        return None
    from hashrange.http import self_signed  # which loads much that other servers do not need

    folder = own_folder(options)
    made = self_signed.self_signed(folder, options.host)
    context = server_context(made.certificate, made.key, clients)
    context.authority = (folder / self_signed.AUTHORITY).absolute()
    return context


def own_folder(options: Options) -> Path:
    """Where a certificate of our own is kept: with the data, or, if that is in memory, until we end."""
    if options.memory:
        import atexit
        import shutil
        import tempfile

        folder = tempfile.mkdtemp(prefix="hashrange-tls-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)
    directory = Path(options.data or DEFAULT_DATA)
    files.look(directory)  # nothing is put into a directory that the database would refuse
    files.create_directory(directory)
    return directory / files.TLS


def how_to_trust(context: LiveContext) -> str:
    """The lines for people whose clients have never heard of the certificate."""
    if context.authority is None:
        return ""
    return (
        f"Clients have to trust {context.authority}:\n"
        f"  boto3, AWS CLI: export AWS_CA_BUNDLE={context.authority}\n"
        f"  Node.js:        export NODE_EXTRA_CA_CERTS={context.authority}\n"
    )
