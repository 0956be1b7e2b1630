"""A business platform: CRM, invoicing, knowledge base, documents, assistant, BI and webhooks."""

import os

# Before numpy is loaded: a process serves requests with threads of its own, and those of its
# library for linear algebra spin, and cost ten times what they save.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
