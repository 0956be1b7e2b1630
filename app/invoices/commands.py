"""``flask --app wsgi invoices ...``: check the chain of issued documents, draw samples."""

from __future__ import annotations

from pathlib import Path

import click
from flask.cli import AppGroup

from app.db.engines import transaction
from app.invoices.chain import verify_chain

invoices = AppGroup("invoices", help="Issued documents.")


@invoices.command("verify")
@click.option("--files/--no-files", default=True, help="Whether to read the stored PDFs, too.")
@click.option("--expect", metavar="HASH", help="The last hash as it was written down elsewhere.")
def verify(files: bool, expect: str | None) -> None:
    """Check that no issued document was changed, added or removed.

    Prints the hash of the last link: written down elsewhere, it shows later (--expect) that the
    chain was not made anew. Documents that were back-dated are listed. Ends with 1 where the chain
    is broken, and names the first place.
    """
    with transaction():
        chain = verify_chain(files=files, expected=expect)
    if chain.broken is not None:
        raise click.ClickException(f"broken after {chain.links} links: {chain.broken}")
    click.echo(f"{chain.links} documents, unbroken. Last hash: {chain.last_hash}")
    for line in chain.backdated:
        click.echo(f"Back-dated: {line}.")


@invoices.command("samples")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def samples(folder: Path) -> None:
    """Draw sample documents into FOLDER: languages, scripts, every mark."""
    from app.invoices.pdf import samples as sample_files  # only this draws

    for path in sample_files.write_samples(folder):
        click.echo(path)
