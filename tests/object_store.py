"""An S3 API on loopback: a real server where TEST_S3_URL has one, else moto's, in a thread."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.services import SERVICES

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing-secret",
    "AWS_REGION": "us-east-1",
}


@contextmanager
def object_store() -> Iterator[str]:
    """``s3://bucket/prefix`` of an empty bucket; the AWS_* variables name its server."""
    with _server() as endpoint, pytest.MonkeyPatch.context() as patch:
        for name, value in CREDENTIALS.items():
            patch.setenv(name, os.environ.get(name) or value)
        patch.setenv("AWS_ENDPOINT_URL", endpoint)
        bucket = f"business-platform-{secrets.token_hex(4)}"
        boto3.client("s3", region_name=os.environ["AWS_REGION"]).create_bucket(Bucket=bucket)
        yield f"s3://{bucket}/files"


@contextmanager
def _server() -> Iterator[str]:
    if SERVICES["s3"].problem is None:
        yield SERVICES["s3"].url
        return
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()
