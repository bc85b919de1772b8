"""Eighty questions to the tools of `tools_b`, each with the tools that it needs; by another hand than `questions`."""

from benchmarks.routing.questions import Question


def _asks(text: str, *needs: str) -> Question:
    return Question(text, needs)


QUESTIONS = (
    # Harbour
    _asks(
        "When does the Castella get in? My crew has been waiting with the cranes since six.",
        "list_vessel_arrivals",
    ),
    _asks(
        "Is there room for a 190 m bulk carrier that sits 11 metres deep on Friday?", "get_berth_availability"
    ),
    _asks("Where on earth is our box MSKU4471203, and has it been let through yet?", "trackContainer"),
    _asks(
        "We picked the goods up nine days too late, I know, my fault. What will the line bill us for that?",
        "get_demurrage_charges",
    ),
    _asks(
        "The Nordic Heron is running late, so which ships are due before her, and could she tie up at the south "
        "terminal instead if the north one is full?",
        "list_vessel_arrivals",
        "get_berth_availability",
    ),
    _asks(
        "Our shipment of tiles still hasn't left the port: where is it stuck and how much is the "
        "delay costing us so far?",
        "trackContainer",
        "get_demurrage_charges",
    ),
    # Dental practice
    _asks("Can Dr Osei squeeze me in for a filling before the holidays?", "find_chair_slot"),
    _asks("what's still left to do in Mrs Lindqvist's mouth and what will she owe us", "get_treatment_plan"),
    _asks("When did we last X-ray patient 20417?", "getPatientRadiographs"),
    _asks(
        "Text Mr Abara that it's time to have his teeth looked at, he hasn't been in for over a year.",
        "send_recall_reminder",
    ),
    _asks(
        "Chart 3381 needs the next crown from what we agreed in March. Which tooth is it, and when is there a free "
        "hour for it?",
        "get_treatment_plan",
        "find_chair_slot",
    ),
    # Municipality
    _asks("Which day do I put the bottles out on Mill Lane?", "refuse_collection_calendar"),
    _asks(
        "There is a huge hole in the road outside number 12, my neighbour nearly came off her bike this morning. Can "
        "you let somebody know?",
        "report_street_defect",
    ),
    _asks(
        "They want to build six storeys behind our garden. Has the council said yes, and can I still object?",
        "searchPlanningApplications",
    ),
    _asks(
        "How long am I still allowed to leave the car in my street? Plate is KX21 ZTO.",
        "resident_permit_status",
    ),
    _asks(
        "The lift at the town hall has been dead since Monday and the lamp post by the back door is out as well: send "
        "somebody for the first, and let the council know about the second.",
        "dispatchTechnician",
        "report_street_defect",
    ),
    _asks(
        "The lamp in front of our house has been dark for a week, please tell them; and is my parking sticker "
        "about to run out?",
        "report_street_defect",
        "resident_permit_status",
    ),
    # Greenhouse
    _asks("Is it too muggy in A3 right now?", "read_climate_zone"),
    _asks("Give the tomatoes in B1 water at 7, 11 and 15 o'clock, 120 ml each.", "set_irrigation_schedule"),
    _asks("How strong a feed are the peppers getting now that they bear fruit?", "getNutrientRecipe"),
    _asks("Are the little white bugs getting worse in the back half?", "sticky_trap_counts"),
    _asks(
        "Cucumbers in C2 look limp. How hot is it in there? If above 30, let them drink every two hours.",
        "read_climate_zone",
        "set_irrigation_schedule",
    ),
    _asks(
        "Basil leaves are yellow and sticky: do we have lice in the propagation house, or is the fertiliser too weak?",
        "sticky_trap_counts",
        "getNutrientRecipe",
    ),
    # Museum
    _asks("Do we own anything by Käsebier?", "search_accessions"),
    _asks(
        "Until when does Rotterdam get to keep our Ruisdael, and who has to travel with it?",
        "get_loan_agreement",
    ),
    _asks(
        "Has the crack in the Etruscan mirror got any bigger since somebody last examined it?",
        "listConditionReports",
    ),
    _asks("Are the watercolours in room 14 getting too much sun?", "gallery_light_dose"),
    _asks(
        "Before we let the blue kimono go to Lyon: is it in good enough shape, and for how much did they promise to "
        "cover it?",
        "listConditionReports",
        "get_loan_agreement",
    ),
    _asks(
        "I'm a student writing about 18th century clocks, what have you got in storage?", "search_accessions"
    ),
    # Film production
    _asks("What time do I have to be on set tomorrow and who's driving the lead?", "get_call_sheet"),
    _asks("Have we blown the costume money yet on Salt Road?", "productionCostReport"),
    _asks("Are we allowed to shoot at the old bridge after ten at night?", "location_permits"),
    _asks(
        "The director liked one of the takes where she drops the glass, scene 42 I think; which one was it?",
        "search_dailies",
    ),
    _asks(
        "Where are we working on day 17, and may we close off the street there?",
        "get_call_sheet",
        "location_permits",
    ),
    _asks(
        "How much more money than we have will this shoot eat if it goes on raining?", "productionCostReport"
    ),
    # Insurance
    _asks(
        "It's been three weeks since my kitchen flooded and I have heard nothing. Who's dealing with it?",
        "get_claim_status",
    ),
    _asks("My bike was stolen from the shed, does my insurance pay for that?", "checkPolicyCoverage"),
    _asks("When is somebody coming round to look at the damaged roof?", "list_adjuster_visits"),
    _asks(
        "Something smells off about CLM-2026-004417, third laptop this year. Is it dodgy?",
        "score_fraud_indicators",
    ),
    _asks(
        "A tree came down on the garage last night. Am I insured for it, and how much of it would I have to "
        "pay myself?",
        "checkPolicyCoverage",
    ),
    _asks(
        "For the burst pipe in Leith: which papers do you still want from me, and what day is your man coming "
        "to see it?",
        "get_claim_status",
        "list_adjuster_visits",
    ),
    # Sports league
    _asks("Who's top in the U15 East?", "league_standings"),
    _asks("who do the Rovers play next sunday and where", "getFixtures"),
    _asks("Can Dawson play on Saturday or is he still banned after that red?", "player_suspensions"),
    _asks("Put Ines Fabre down to whistle match 8812.", "assign_match_official"),
    _asks(
        "Could Harlow still go up if they win what's left? So how many points have they got and whom do they still "
        "have to face?",
        "league_standings",
        "getFixtures",
    ),
    _asks(
        "I'd like to give blood on the way home from our match at Thornbury. When do we kick off, and is there "
        "anywhere around BS35 that still has room?",
        "getFixtures",
        "find_donation_session",
    ),
    # Translation bureau
    _asks("What would it cost to have a 12,000 word manual put into Finnish?", "quote_translation_job"),
    _asks("How does Brandt want us to say 'torque wrench' in Polish?", "termbase_lookup"),
    _asks("I need somebody good for Danish into Brazilian Portuguese who knows patents.", "findLinguist"),
    _asks("How far along is 26-1183? The customer has rung twice today.", "get_job_progress"),
    _asks(
        "A notary wants a birth certificate in Greek with a stamp by Thursday, one page. How much do we ask, and who "
        "is free to do it?",
        "quote_translation_job",
        "findLinguist",
    ),
    # Farm machinery
    _asks(
        "Why is there a red light on in the number 7 tractor, and has Piet got enough diesel to finish?",
        "machine_telemetry",
    ),
    _asks("Which of our vehicles need an oil change before harvest?", "serviceIntervalsDue"),
    _asks("How did the barley on Long Acre do last summer, was it dry enough?", "get_yield_map"),
    _asks("Get me two RE504836 filters here by tomorrow morning.", "order_spare_part"),
    _asks(
        "Is the combine running hot again? If a check is coming up anyway I'd rather do the two together.",
        "machine_telemetry",
        "serviceIntervalsDue",
    ),
    # Payroll
    _asks("Why did I take home 140 less in March than in February?", "get_payslip"),
    _asks("How many days of holiday have I got left?", "leaveBalance"),
    _asks("If I come in on Easter Monday for eight hours, what's in it for me?", "simulate_overtime_pay"),
    _asks(
        "I've switched to another bank, please send my wages to BE71 0961 2345 6769 from now on.",
        "update_bank_details",
    ),
    _asks(
        "Can I take the Friday off for the late shifts I did, or would I be better off having them paid out?",
        "leaveBalance",
        "simulate_overtime_pay",
    ),
    # Public aquarium
    _asks("Is the water with the rays salty enough?", "tank_water_chemistry"),
    _asks("Has the octopus been eating properly this week? She looked listless to me.", "getFeedingLog"),
    _asks("When can the new seahorses be shown to the public?", "quarantine_register"),
    _asks("Are we packed tomorrow afternoon? A school with 60 kids wants to come.", "visitor_admissions"),
    _asks(
        "Two wrasse died in the kelp hall overnight. Is anything wrong with the water, and did they refuse their food?",
        "tank_water_chemistry",
        "getFeedingLog",
    ),
    # Ski resort
    _asks("Is the gondola running in this wind?", "get_lift_status"),
    _asks("Is it safe to go off piste on the north side above 2,200 tomorrow?", "avalanche_bulletin"),
    _asks("Which easy slopes are nice and smooth this morning?", "pisteGroomingReport"),
    _asks(
        "My daughter broke her wrist on the second day out of six, so could we have her money back? Card 0161-2288.",
        "refund_ski_pass",
    ),
    _asks(
        "Any black runs in decent shape today, and how long is the wait to get up there?",
        "pisteGroomingReport",
        "get_lift_status",
    ),
    # Blood service
    _asks("Do we have enough O negative to get through the long weekend?", "blood_stock_levels"),
    _asks(
        "I got a tattoo in May and I'm back from Kenya. I'd like to give blood again, can I, and where could I go near "
        "LS6?",
        "checkDonorEligibility",
        "find_donation_session",
    ),
    _asks("I take pills for my blood pressure, can I still give?", "checkDonorEligibility"),
    _asks("Who ended up getting bag G1517 26 600 001, or was it thrown away?", "trace_blood_unit"),
    # Lift maintenance
    _asks(
        "There are two people stuck between floors at Harbour House, send someone quick!",
        "dispatchTechnician",
    ),
    _asks(
        "The lift in the library keeps breaking down. How often this year, and what does our deal say about how fast "
        "you have to turn up?",
        "elevator_fault_history",
        "getMaintenanceContract",
    ),
    _asks(
        "Is the escalator at the station still approved, or is it due to be looked at by the authorities?",
        "inspection_certificates",
    ),
    _asks(
        "We'd like another firm to look after our lifts; how soon could we get out?", "getMaintenanceContract"
    ),
)
