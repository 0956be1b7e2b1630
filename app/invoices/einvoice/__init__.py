"""Electronic invoices by EN 16931: Factur-X (CII in PDF/A-3) and UBL."""
