"""A fresh process: which modules the first calls of their kind load once a server has loaded the rest, and how long a
callback of theirs held the event loop. Prints them as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.support.loop_probe import probed
from tests.support.surfaces import ManualClock, Surface, settings_for

from assent.app import App


async def main(data_dir: Path) -> dict[str, Any]:
    app = App(settings_for(f"sqlite:///{data_dir}/assent.db", data_dir), clock=ManualClock())
    await app.prepare()
    surface = Surface(app)
    await surface.sign_in()
    await surface.call("chieflab_help")
    await asyncio.to_thread(surface.surfaces.load_rest)
    known = {*sys.modules}
    with probed() as probe:
        await surface.call("chieflab_post", {"channel": 1})
        posted = await surface.call("chieflab_post", {"channel": "site", "title": "Hi", "body": "A thing."})
        assert posted.payload["ok"], posted.payload
        await surface.call("workflow_list")
        assert (await surface.http.get("/openapi.json")).status_code == 200
    await surface.close()
    return {"loaded": sorted({*sys.modules} - known), "heldMs": probe.longest_ms}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(Path(sys.argv[1])))))
