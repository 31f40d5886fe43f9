"""The echo server over the SDK's own HTTP transport, on uvicorn with the flags that `assent serve` uses."""

from __future__ import annotations

import sys

import uvicorn
import uvloop

from benchmarks.bare.echo import echo_server


def main() -> None:
    config = uvicorn.Config(
        echo_server().streamable_http_app(json_response=True, stateless_http=True),
        port=int(sys.argv[1]),
        log_config=None,
        access_log=False,
        lifespan="on",  # the SDK's session manager starts there
        server_header=False,
        http="httptools",
        timeout_keep_alive=75,
    )
    uvloop.run(uvicorn.Server(config).serve())
