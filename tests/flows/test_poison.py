"""A message that kills its workers becomes a dead letter; its session continues, and so do all others."""

from tests.flows.pipeline import FALLS_OVER, FORMS, pipeline
from tests.flows.promises import assert_each_answered_once, assert_undisturbed

NEIGHBOURS = [f"s{n}" for n in range(8)]
DELIVERIES_MAX = 4


@FORMS
def test_a_tool_that_kills_its_process_costs_only_a_round_of_its_own_session(processes: int) -> None:
    with pipeline(
        processes=processes,
        LEDGER_WAIT_S="0.2",
        ANTIPHON_BUS_LEASE_S="1",
        ANTIPHON_BUS_MAX_DELIVERIES=str(DELIVERIES_MAX),
    ) as five:
        dispatcher = five.running["tool_dispatcher"]
        five.submit(FALLS_OVER, session_id="poisoned")
        for session_id in NEIGHBOURS:
            five.submit("Who stands beside it?", session_id=session_id)

        def all_are_answered() -> bool:
            nonlocal dispatcher
            if dispatcher.poll() is not None:
                five.start("tool_dispatcher")
                dispatcher = five.running["tool_dispatcher"]
            return five.response_count() == len(NEIGHBOURS) + 1

        five.until(all_are_answered, "all answered, while the dispatcher is started again and again")
        responses = {response.session_id: response for response in five.responses()}
        assert_each_answered_once(list(responses.values()), ["poisoned", *NEIGHBOURS])
        assert "component_failed" in [uncertainty.kind for uncertainty in responses["poisoned"].uncertainty]
        assert five.client.xlen(five.keys.dead(0)) == 1, "its batch, and no neighbour's"
        for session_id in NEIGHBOURS:
            assert_undisturbed(five, responses[session_id])
