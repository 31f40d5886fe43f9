"""The approval loop in DBOS on PostgreSQL, in process: a workflow waits for a message, then publishes in a step.

The message is the yes of a person. Publishing is a function that returns at once.
"""

from __future__ import annotations

import sys

from dbos import DBOS

from benchmarks.peers.driver import in_threads, serve

APPROVAL = "approval"
published: list[str] = []


@DBOS.step()  # type: ignore[untyped-decorator]
def publish(text: str) -> str:
    published.append(text)
    return "https://provider.example/1"


@DBOS.workflow()  # type: ignore[untyped-decorator]
def post(text: str) -> str | None:
    consent = DBOS.recv(APPROVAL, timeout_seconds=60)
    return publish(text) if consent else None


def main() -> None:
    address, text = sys.argv[1:]
    DBOS(config={"name": "loops", "system_database_url": address, "log_level": "ERROR"})
    DBOS.launch()

    def loop() -> None:
        handle = DBOS.start_workflow(post, text)
        DBOS.send(handle.get_workflow_id(), True, APPROVAL)
        handle.get_result()

    serve(in_threads(loop), published)
    DBOS.destroy()


if __name__ == "__main__":
    main()
