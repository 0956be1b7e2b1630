"""``flask --app wsgi invoices ...``: check the chain of issued documents, draw samples."""

from __future__ import annotations

from pathlib import Path

import click
from flask.cli import AppGroup

from app.db.engines import transaction
from app.invoices.chain import verify_chain
from app.invoices.einvoice.preflight import preflight
from app.invoices.samples import NAMES, sample

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
        raise click.ClickException(f"broken after link {chain.links}: {chain.broken}")
    click.echo(f"Unbroken; documents: {chain.links}. Last hash: {chain.last_hash}")
    for line in chain.backdated:
        click.echo(f"Back-dated: {line}.")


@invoices.command("samples")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def samples(folder: Path) -> None:
    """Draw sample documents into FOLDER: languages, scripts, every mark."""
    from app.invoices.pdf.render import render_facturx, render_pdf  # only this draws

    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        document, path = sample(name), folder / f"{name}.pdf"
        # Factur-X where the rules allow it, as the service does.
        is_bare = document.number is None or preflight(document)
        path.write_bytes(render_pdf(document) if is_bare else render_facturx(document))
        click.echo(path)
