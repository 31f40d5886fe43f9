"""Arguments that are no object are told what is wrong like any others."""

from __future__ import annotations

from typing import Any

import pytest
from tests.surfaces import Surface


@pytest.mark.parametrize("odd", [[], [1], "text", 3, True])
async def test_arguments_that_are_no_object_get_the_shape_with_the_problem(
    surface: Surface, odd: Any
) -> None:
    answer = await surface.rpc("tools/call", {"name": "chieflab_list_connectors", "arguments": odd})

    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"]["reason"] == "validation_error"
    assert answer["error"]["data"]["problems"][0]["path"] == "arguments"
