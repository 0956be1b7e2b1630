"""Data from elsewhere: tables of records, and whole histories.

A table: ``submission`` reads the request, and imports at once or leaves it to ``jobs``; ``tables``
opens the file (CSV, or by ``workbook``, within ``limits``), ``columns`` says what each column is
(``named_columns``, ``units``), and ``rows`` writes by the services.
A history: ``history``, of the ``sets``; ``export`` writes such a file.
"""
