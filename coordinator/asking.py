"""The decision after a briefing: ask a model within the limits, wait for one, or end the session. Pure."""

from datetime import datetime, timedelta

from antiphon_shared.breakers.outages import Outages
from antiphon_shared.events import AnyEvent, BriefingReady, OutagesSeen
from antiphon_shared.events.session import Uncertainty
from antiphon_shared.tools.calls import Catalogue

from coordinator import fallbacks, limits, models, offer, outputs, summaries
from coordinator.decision import Decision
from coordinator.endings import end
from coordinator.requests import request_reasoning, wait_for_model
from coordinator.session import Session, new_uncertainty
from coordinator.session_parts import Material, replace

_TIME_FOR_A_CALL = timedelta(seconds=2)
"""The time that a model needs after a wait, before the deadline."""


def after_briefing(
    session: Session, event: AnyEvent, ready: BriefingReady, catalogue: Catalogue, outages: Outages
) -> Decision:
    """Return the decision after a briefing: limits and circuit breakers determine the model and how it is asked."""
    outline, out = ready.briefing, models.relevant_outages(session, outages)
    seen = () if out == session.models.outages else (OutagesSeen(outages=out),)
    material = Material(
        has_untrusted=session.material.has_untrusted,
        has_omissions=session.material.has_omissions or bool(outline.omitted or outline.shortened),
        missed=outline.missed,
    )
    filed = replace(session, material=material, models=replace(session.models, outages=out))
    if ready.summary_refused:
        filed = summaries.after_refusal(filed)
    return _ask_model(filed, event, ready, catalogue).with_events(*seen)


def _ask_model(session: Session, event: AnyEvent, ready: BriefingReady, catalogue: Catalogue) -> Decision:
    """Return the decision to ask a model within the limits, to wait for one, or to end the session."""
    if lacking := outputs.missing_tools(session):
        return outputs.end_without(session, event, lacking)
    left, cost_left_usd = limits.tokens_left(session), limits.cost_left_usd(session)
    if left <= limits.calibrated_tokens(session, ready.briefing.tokens):
        return end(session, event, "partial", "token_budget_exhausted")
    if cost_left_usd is not None and cost_left_usd <= 0:
        return end(session, event, "partial", "cost_budget_exhausted")
    model = models.next_model(session, event.time)
    if isinstance(model, datetime) and model < session.deadline - _TIME_FOR_A_CALL:
        because = f"No model may be asked before {model:%H:%M:%S} UTC."
        return fallbacks.with_fallback_step(wait_for_model(session, model), "waiting_for_model", because)
    if not isinstance(model, str):
        because = "No model is left that may be asked" + (" in time." if model else ".")
        decision = end(session, event, "partial", "model_unavailable")
        return fallbacks.with_fallback_step(decision, "facts_without_model", because)
    noted = session.with_uncertainties(*_tools_unavailable(session, catalogue), *_other_model(session, model))
    decision = request_reasoning(noted, event, ready, left, model, catalogue)
    return _fallbacks_reported(session, summaries.with_summary_request(decision, event, ready), model)


def _fallbacks_reported(before: Session, decision: Decision, model: str) -> Decision:
    """Return the decision to ask the model, with the fallback steps that were taken in the log."""
    session = decision.session
    if model != before.models.asked and session.models.order and model != session.models.order[0]:
        because = f"{session.models.order[0]} may not be asked."
        decision = fallbacks.with_fallback_step(decision, "other_model", because, model)
    if session.last_round == "all_tools_failed":
        because = limits.explain(session.last_round, session)
        decision = fallbacks.with_fallback_step(decision, "answer_without_tools", because)
    return decision


def _tools_unavailable(session: Session, catalogue: Catalogue) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about tools that were not offered because they were unavailable, once for each."""
    reported = {one.about for one in session.uncertainty if one.kind == "tools_unavailable"}
    uncertainties = []
    for name, instead in offer.unavailable_tools(session, catalogue).items():
        message = f"`{name}` was unavailable and was not offered"
        message += (
            f"; {' and '.join(f'`{other}`' for other in instead)} could be used instead." if instead else "."
        )
        uncertainties += [] if name in reported else [new_uncertainty("tools_unavailable", message, name)]
    return tuple(uncertainties)


def _other_model(session: Session, model: str) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about a reply from another model than the requested one, once for each model."""
    reported = {one.about for one in session.uncertainty if one.kind == "other_model"}
    if not session.models.order or model == session.models.order[0] or model in reported:
        return ()
    message = (
        f"`{session.models.order[0]}` was unavailable in round {session.round}; `{model}` was asked instead."
    )
    return (new_uncertainty("other_model", message, model, "note"),)
