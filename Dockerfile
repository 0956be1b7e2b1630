# One image for the three processes of the Procfile; compose.yaml runs them together.
FROM python:3.11-slim-bookworm AS packages
WORKDIR /platform
COPY bin/ bin/
COPY requirements.txt .
RUN python -m venv .venv && .venv/bin/python bin/install.py requirements.txt

FROM python:3.11-slim-bookworm
RUN useradd --system --home-dir /platform platform && install -d -o platform /data
WORKDIR /platform
COPY --from=packages /platform/.venv .venv
COPY . .
# Bytecode is made here: who runs the service may not write into its folder.
RUN .venv/bin/python -m compileall -q app migrations wsgi.py
ENV PATH="/platform/.venv/bin:$PATH" PYTHONUNBUFFERED=1 APP_ENV=production DATA_DIR=/data
USER platform
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=30s --interval=10s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=5)"]
CMD ["gunicorn", "--config", "gunicorn.conf.py", "wsgi:app"]
