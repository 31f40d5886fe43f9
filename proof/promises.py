"""The promises P1 to P8 as pure functions over evidence. Each yields a breach for everything that cannot have happened
if the promise was kept.

P1  a provider is asked only with a stored approval of exactly what is sent
P2  one attempt at a time, and a new one only if the last is known not to have happened
P3  the same key and arguments get the same answer; other arguments have no effect
P4  nothing acknowledged is lost, and every action has a known state with a next step
P5  rejected and executed are final; an edit needs a new approval
P6  a workflow token counts once, and only as it was issued
P7  a measurement happens once
P8  no event is changed, removed or cut without being found
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from proof.history import Call, Effect, Evidence, Payload, Request, canonical
from proof.journal import Life, find_breaks, find_rewritten, read_lives

STAGE = "testing_stage"
APPROVE, REJECT, EDIT = "chieflab_approve_action", "chieflab_reject_action", "chieflab_edit_action"
WITHDRAW, RESOLVE = "chieflab_withdraw_approval", "chieflab_resolve_unknown_outcome"
EXECUTE = "chieflab_execute_approved_action"
EXECUTORS = frozenset({EXECUTE, "chieflab_publish_approved_post", "chieflab_send_approved_email"})
START, ADVANCE = "workflow_start", "workflow_advance"

PASSING = frozenset({"temporarily_unavailable", "rate_limited", "execution_in_progress"})
"""Refusals that say to repeat the call unchanged."""
STATES = {
    ("awaiting_approval", "none"): "awaiting_approval",
    ("approved", "none"): "approved",
    ("approved", "executing"): "executing",
    ("approved", "outcome_unknown"): "outcome_unknown",
    ("approved", "retryable"): "retryable",
    ("rejected", "none"): "rejected",
    ("executed", "done"): "executed",
    ("failed", "done"): "failed",
}
OPEN = frozenset({"awaiting_approval", "approved", "outcome_unknown", "retryable"})
"""States that end only by a call, so that the record has to name one."""
MEASURED, LEAST_MEASURED_MS = "run_measured", 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Breach:
    """A promise that was not kept, on what, and how that is seen."""

    promise: str
    subject: str
    what: str

    def __str__(self) -> str:
        return f"{self.promise} {self.subject}: {self.what}"


class Case:
    """Evidence, sorted by what it is about."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.lives: dict[str, Life] = read_lives(evidence.events)
        self.staged: dict[str, Payload] = {}
        """Actions that a client was told about, as they were staged."""
        self.calls: dict[tuple[str, str], list[Call]] = defaultdict(list)
        """By tool and action; all executors are one."""
        for call in evidence.calls:
            tool = EXECUTE if call.tool in EXECUTORS else call.tool
            self.calls[tool, call.action_id].append(call)
            if call.answer is not None and call.ok and call.tool == STAGE:
                self.staged.update({each["id"]: each for each in call.answer["actions"]})
        self.effects: dict[str, list[Effect]] = defaultdict(list)
        for effect in evidence.effects:
            self.effects[effect.action_id].append(effect)
        self.requests: dict[str, list[Request]] = defaultdict(list)
        for request in evidence.requests:
            self.requests[request.reference].append(request)

    @cached_property
    def known(self) -> set[str]:
        return {*self.staged, *self.lives, *self.evidence.records}

    def done(self, tool: str, action_id: str) -> list[Call]:
        """Calls that were answered with a success."""
        return [call for call in self.calls.get((tool, action_id), ()) if call.ok]

    def possible(self, tool: str, action_id: str) -> list[Call]:
        """Calls that succeeded or may have."""
        return [call for call in self.calls.get((tool, action_id), ()) if call.ok or call.uncertain]

    def state(self, action_id: str) -> str | None:
        record = self.evidence.records.get(action_id)
        return None if record is None else STATES.get((record["status"], record["executionState"]))

    def approves(self, call: Call, digest: str) -> bool:
        """Whether an approval is about this content: that which the caller named, else that which was staged."""
        named = call.arguments.get("digest")
        staged = self.staged.get(call.action_id)
        told = staged["digest"] if staged is not None else (call.answer or {}).get("digest", digest)
        return name_one_content(named if named is not None else told, digest)


def name_one_content(one: str, other: str) -> bool:
    """Whether two digests name the same content. Answers have the first digits."""
    short, long = sorted((each.removeprefix("sha256:") for each in (one, other)), key=len)
    return long.startswith(short)


def check_consent(case: Case) -> Iterator[Breach]:
    """P1, and of P5 that an edit takes its approval with it: as clients saw it."""
    for action_id, effects in case.effects.items():
        for effect in effects:
            approvals = [
                call
                for call in case.possible(APPROVE, action_id)
                if int(call.begun) <= effect.at_ms and case.approves(call, effect.digest)
            ]
            if not approvals:
                yield Breach(
                    "P1", action_id, f"{effect.effect_id} was sent, and no one approved that content"
                )
                continue
            asked = min(
                (each.at_ms for each in case.requests.get(effect.reference, ())), default=effect.at_ms
            )
            for tool in (EDIT, WITHDRAW, REJECT):
                for revoked in case.done(tool, action_id):
                    if revoked.replayed:
                        continue
                    if revoked.latest < asked and not any(call.latest > revoked.begun for call in approvals):
                        yield Breach("P5" if tool == EDIT else "P1", action_id, f"sent after {tool}")
    for (tool, action_id), calls in case.calls.items():
        for call in calls:
            named = call.arguments.get("digest")
            if tool != APPROVE or not call.ok or named is None or call.answer is None:
                continue
            if not name_one_content(named, call.answer["digest"]):
                yield Breach("P1", action_id, "an approval was taken for another content than it named")


def check_journal_of_actions(case: Case) -> Iterator[Breach]:
    """P1, P2, P4 and P5 as the events of each action tell them."""
    for action_id, life in case.lives.items():
        for promise, what in life.faults:
            yield Breach(promise, action_id, what)
        for effect in case.effects.get(action_id, ()):
            if (effect.revision, effect.digest) not in life.claims:
                yield Breach("P1", action_id, f"{effect.effect_id} is not what was claimed")


def check_attempts(case: Case) -> Iterator[Breach]:
    """P2: one effect, one attempt at a time, no blind retry, one answer."""
    for action_id, effects in case.effects.items():
        if len(effects) > 1:
            yield Breach("P2", action_id, f"double effect: {', '.join(each.effect_id for each in effects)}")
    for reference, requests in case.requests.items():
        action_id, _, revision = reference.rpartition(":")
        life, staged = case.lives.get(action_id), case.staged.get(action_id)
        record = case.evidence.records.get(action_id) or staged or {}
        delivery = case.evidence.deliveries.get(str(record.get("connector", "")))
        if life is None or delivery is None:
            continue
        claims = sum(each[0] == int(revision) for each in life.claims)
        if not claims or (delivery.kind != "key" and len(requests) > claims):
            yield Breach("P2", action_id, f"{len(requests)} requests for {claims} claims")
        span_ms = requests[-1].at_ms - requests[0].at_ms
        if delivery.kind == "key" and claims < len(requests) and span_ms > (delivery.window_ms or span_ms):
            yield Breach("P2", action_id, f"sent again {span_ms} ms later, after its key was forgotten")
    for (tool, action_id), calls in case.calls.items():
        if tool != EXECUTE:
            continue
        told = {str((call.answer or {}).get("externalId")) for call in calls if call.ok}
        if len(told) > 1:
            yield Breach("P2", action_id, f"executes were told different effects: {sorted(told)}")


def check_keys(case: Case) -> Iterator[Breach]:
    """P3: the answers under each idempotency key."""
    groups: dict[tuple[str, str, str], list[Call]] = defaultdict(list)
    for call in case.evidence.calls:
        if call.key is not None:
            groups[call.holder, call.tool, call.key].append(call)
    for (_, tool, key), calls in groups.items():
        if len(calls) < 2:
            continue
        done = [call for call in calls if call.ok]
        if len({canonical(call.arguments) for call in done}) > 1:
            yield Breach("P3", key, f"{tool} had an effect with two sets of arguments")
        if not _are_same(done):
            yield Breach("P3", key, f"{tool} was answered differently under one key")
        if not done:
            continue
        first = min(done, key=lambda call: call.latest)
        for call in calls:
            if call.answer is None or call.ok or call.begun <= first.latest or call.reason in PASSING:
                continue
            same = canonical(call.arguments) == canonical(first.arguments)
            if same or call.reason != "idempotency_conflict":
                yield Breach("P3", key, f"{tool} was answered {call.reason} after a success")


def _are_same(calls: list[Call]) -> bool:
    """Whether answers are the same but for the mark of a replay."""
    return len({canonical({**(call.answer or {}), "replay": None}) for call in calls}) <= 1


def check_nothing_lost(case: Case) -> Iterator[Breach]:
    """P4: what was acknowledged is there, and every action can go on."""
    records = case.evidence.records
    for action_id in case.known:
        state = case.state(action_id)
        if action_id not in records:
            yield Breach("P4", action_id, "lost: it was acknowledged and cannot be read")
            continue
        life = case.lives.get(action_id)
        if life is None:
            yield Breach("P4", action_id, "lost: it has no events")
        elif state != life.state:
            yield Breach("P4", action_id, f"its record says {state}, its events say {life.state}")
        if state is None or state == "executing":
            record = records[action_id]
            yield Breach("P4", action_id, f"stuck at {record['status']}/{record['executionState']}")
        elif state in OPEN and not (
            records[action_id].get("agentGuide") or records[action_id].get("userMessage")
        ):
            yield Breach("P4", action_id, f"{state} without a next step")
        effects = case.effects.get(action_id, [])
        if effects and state not in ("executed", "outcome_unknown"):
            yield Breach("P4", action_id, f"it happened, and its record says {state}")
        if state == "executed" and not effects:
            yield Breach("P4", action_id, "its record says executed, and nothing happened")
        yield from _check_acknowledged(case, action_id, life, state)
    for action_id, effects in case.effects.items():
        if action_id not in case.known:
            yield Breach("P4", action_id, f"{effects[0].effect_id} is an effect of nothing known")


def _check_acknowledged(case: Case, action_id: str, life: Life | None, state: str | None) -> Iterator[Breach]:
    for call in case.done(APPROVE, action_id):
        if life is None or not any(case.approves(call, digest) for digest in life.approvals):
            yield Breach("P4", action_id, "lost: an acknowledged approval")
    if case.done(REJECT, action_id) and state != "rejected":
        yield Breach("P5", action_id, f"rejected, and now {state}")
    for call in case.done(EDIT, action_id):
        if life is None or life.revision < int((call.answer or {}).get("revision", 0)):
            yield Breach("P4", action_id, "lost: an acknowledged edit")
    for call in case.done(EXECUTE, action_id):
        told = (call.answer or {}).get("externalId")
        if state != "executed" or case.evidence.records[action_id].get("externalId") != told:
            yield Breach("P4", action_id, f"lost: an acknowledged execution, {told}")
        elif not any(effect.effect_id == told for effect in case.effects.get(action_id, ())) and not (
            case.possible(RESOLVE, action_id)
        ):
            yield Breach("P4", action_id, f"answered with {told}, which did not happen")


def check_finality(case: Case) -> Iterator[Breach]:
    """P5: nothing succeeds after a rejection or an execution, or after an edit without a new approval."""
    for (tool, action_id), calls in case.calls.items():
        if tool not in (REJECT, EXECUTE):
            continue
        final = min((call.latest for call in calls if call.ok), default=None)
        if final is None:
            continue
        for other in (APPROVE, EDIT, WITHDRAW, REJECT, EXECUTE):
            for call in case.done(other, action_id):
                if other != tool and call.begun > final and not call.replayed:
                    yield Breach("P5", action_id, f"{other} succeeded after {tool}")
    for (tool, action_id), calls in case.calls.items():
        if tool != EDIT:
            continue
        for edit in (call for call in calls if call.ok and not call.replayed):
            for execute in case.done(EXECUTE, action_id):
                approved = any(
                    call.latest > edit.begun and call.begun < execute.latest
                    for call in case.possible(APPROVE, action_id)
                )
                if execute.begun > edit.latest and not approved:
                    yield Breach("P5", action_id, "executed after an edit that no one approved")


def check_workflows(case: Case) -> Iterator[Breach]:
    """P6: the same advance has one answer and one event; a token that was never issued is refused."""
    issued: set[str] = set()
    groups: dict[str, list[Call]] = defaultdict(list)
    acknowledged: Counter[str] = Counter()
    for call in case.evidence.calls:
        if call.tool in (START, ADVANCE) and call.answer is not None and call.ok:
            issued.update(str(call.answer.get(name)) for name in ("stateToken", "ackToken"))
    for call in case.evidence.calls:
        if call.tool != ADVANCE:
            continue
        tokens = {str(call.arguments.get(name)) for name in ("stateToken", "ackToken")}
        if call.ok and not tokens <= issued:
            yield Breach("P6", call.client, "a token that was never issued was accepted")
        groups[canonical(call.arguments)].append(call)
    possible: Counter[str] = Counter()
    for arguments, calls in groups.items():
        answers = {canonical(call.answer) for call in calls if call.ok}
        if len(answers) > 1:
            yield Breach("P6", arguments[:80], "one advance was answered differently")
        run_id = _run_of(calls)
        if run_id is not None:
            acknowledged[run_id] += bool(answers)
            possible[run_id] += 1
    acked = Counter(event.stream_id for event in case.evidence.events if event.kind == "step_acked")
    for run_id, count in acknowledged.items():
        if not count <= acked[run_id] <= possible[run_id]:
            yield Breach("P6", run_id, f"{acked[run_id]} steps in the log, {count} acknowledged")


def _run_of(calls: list[Call]) -> str | None:
    told = (call.answer["session"]["runId"] for call in calls if call.ok and call.answer is not None)
    return next(told, None)


def check_measurements(case: Case) -> Iterator[Breach]:
    """P7: a run of which something was sent is measured once."""
    now_ms = case.evidence.server_now_ms
    measured = Counter(
        event.stream_id
        for event in case.evidence.events
        if event.kind == MEASURED and event.body.get("by") == "schedule"
    )
    for run_id, times in measured.items():
        if times > 1:
            yield Breach("P7", run_id, f"measured {times} times")
    if now_ms is None:
        return
    for event in case.evidence.events:
        sent = event.kind in ("action_succeed", "action_found_done")
        if sent and event.at_ms + LEAST_MEASURED_MS < now_ms and not measured[event.stream_id]:
            yield Breach("P7", event.stream_id, "never measured")


def check_journal(case: Case) -> Iterator[Breach]:
    """P8: chains hold, an earlier export is part of the last one, and the server's own check finds what was done."""
    evidence = case.evidence
    for what in find_breaks(evidence.events):
        yield Breach("P8", "journal", what)
    for export in evidence.earlier:
        for what in find_rewritten(export, evidence.events):
            yield Breach("P8", "journal", what)
    for trial in evidence.trials:
        if trial.tampered and not trial.found:
            yield Breach("P8", trial.name, "a changed journal was taken for whole")
        elif trial.found and not trial.tampered:
            yield Breach("P8", trial.name, "a whole journal was taken for changed")


CHECKS = (
    check_consent,
    check_journal_of_actions,
    check_attempts,
    check_keys,
    check_nothing_lost,
    check_finality,
    check_workflows,
    check_measurements,
    check_journal,
)
