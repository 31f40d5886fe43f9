"""Metrics and recommendations."""

from __future__ import annotations

from assent.gate.measurement.metrics import LARGEST as LARGEST
from assent.gate.measurement.metrics import amount as amount
from assent.gate.measurement.metrics import describe_number as describe_number
from assent.gate.measurement.metrics import describe_numbers as describe_numbers
from assent.gate.measurement.metrics import fold_name as fold_name
from assent.gate.measurement.metrics import read_numbers as read_numbers
from assent.gate.measurement.metrics import select_credible as select_credible
from assent.gate.measurement.metrics import sort_names as sort_names
from assent.gate.measurement.recommend import ENOUGH_FOR_A_RATE as ENOUGH_FOR_A_RATE
from assent.gate.measurement.recommend import ENOUGH_TO_JUDGE as ENOUGH_TO_JUDGE
from assent.gate.measurement.recommend import NO_SOURCE as NO_SOURCE
from assent.gate.measurement.recommend import NextMove as NextMove
from assent.gate.measurement.recommend import brings_more as brings_more
