"""Data from elsewhere: tables of records, and whole histories.

A table: ``form`` reads the request, ``submission`` imports at once or leaves it to ``jobs``;
``tables`` opens the file (``csv_file``, ``workbook``, within ``limits``), ``columns`` says what
each column is (``named_columns``, ``full_names``, ``units``), and ``rows`` writes by the services.
A history: ``reading``, ``keys`` and ``history``, of the ``sets``; ``export`` writes such a file.
"""
