"""The application for gunicorn and for ``flask --app wsgi``."""

import gc
import sys

from dotenv import load_dotenv

# All that is loaded stays: the collector would look through it again and again.
gc.disable()

from app.config import ConfigError  # noqa: E402
from app.factory import create_app  # noqa: E402

# To gunicorn it means that the application cannot be loaded, and that trying again is of no use.
CANNOT_LOAD = 4

load_dotenv()
try:
    app = create_app()
except ConfigError as error:
    print(f"Cannot start: {error}", file=sys.stderr)
    sys.exit(CANNOT_LOAD)
finally:
    gc.enable()
