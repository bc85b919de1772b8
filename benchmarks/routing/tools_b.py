"""A second sixty tools, of other trades and by another hand than `tools`."""

from typing import Any

from antiphon_shared.tools.calls import ToolDefinition


def _tool(
    name: str, description: str, effect: Any = "read", /, **parameters: str | dict[str, Any]
) -> ToolDefinition:
    """Return a tool; a parameter is its description, for a string, or what its JSON Schema says."""
    properties = {
        key: {
            "type": "string",
            **({"description": description} if isinstance(description, str) else description),
        }
        for key, description in parameters.items()
    }
    schema = {"type": "object", "properties": properties}
    return ToolDefinition(name=name, description=description, input_schema=schema, effect=effect)


def _choice(description: str, *values: str) -> dict[str, Any]:
    return {"description": description, "enum": list(values)}


def _like(description: str, *examples: str) -> dict[str, Any]:
    return {"description": description, "examples": list(examples)}


def _number(description: str) -> dict[str, Any]:
    return {"type": "number", "description": description}


TOOLS = (
    # Harbour
    _tool(
        "list_vessel_arrivals",
        "Returns expected and actual arrival times of vessels at the port, from the AIS feed and pilot bookings.",
        vessel=_like("Vessel name or IMO number.", "MV Castella", "9461867"),
    ),
    _tool(
        "get_berth_availability",
        "Free quay slots by length and draught. Does not reserve anything.",
        terminal=_choice("Terminal code.", "NORTH", "SOUTH", "RORO", "BULK"),
        loa_m=_number("Length overall in metres."),
        draught_m=_number("Maximum draught in metres."),
    ),
    _tool(
        "trackContainer",
        "Last known position and customs state of a container in the yard or on board.",
        containerNo=_like("ISO 6346 number.", "MSKU4471203"),
    ),
    _tool(
        "get_demurrage_charges",
        "Computes demurrage and detention accrued on a bill of lading after the free time has expired.",
        bill_of_lading="B/L number.",
    ),
    # Dental practice
    _tool(
        "find_chair_slot",
        "Search open appointment slots in the practice diary by clinician and procedure length.",
        clinician="Surname of the dentist or hygienist; any if left out.",
        minutes=_number("Duration required."),
        earliest="First acceptable date.",
    ),
    _tool(
        "get_treatment_plan",
        "Fetch the agreed treatment plan of a patient: planned procedures per tooth, their order and the fees.",
        patient_id="Chart number.",
    ),
    _tool(
        "getPatientRadiographs",
        "Lists bitewings, periapicals and OPGs on file for a patient with exposure date.",
        patientId="Chart number.",
        modality=_choice("Type of image.", "bitewing", "periapical", "opg", "cbct"),
    ),
    _tool(
        "send_recall_reminder",
        "Sends a recall notice by SMS or email to a patient who is overdue for a check-up.",
        "write",
        patient_id="Chart number.",
        channel=_choice("How to send it.", "sms", "email"),
    ),
    # Municipality
    _tool(
        "refuse_collection_calendar",
        "Collection dates for residual waste, recyclables, glass and garden waste at an address.",
        address="Street and house number.",
        stream=_choice("Waste stream.", "residual", "paper", "glass", "organic", "bulky"),
    ),
    _tool(
        "report_street_defect",
        "Opens a ticket with the highways department for potholes, defective lighting, blocked gullies and the like.",
        "write",
        location="Address or coordinates.",
        category=_choice("Kind of defect.", "pothole", "lighting", "drainage", "signage", "graffiti"),
    ),
    _tool(
        "searchPlanningApplications",
        "Full-text search over planning applications, with decision, consultation deadline and documents.",
        query="Address, applicant or reference.",
        status=_choice("Filter on state.", "pending", "granted", "refused", "appeal"),
    ),
    _tool(
        "resident_permit_status",
        "State of a resident's parking permit: zone, registered plate, expiry and renewal fee.",
        plate=_like("Vehicle registration.", "KX21 ZTO"),
    ),
    # Greenhouse
    _tool(
        "read_climate_zone",
        "Current temperature, relative humidity, CO2 and PAR in one compartment of the glasshouse.",
        zone=_like("Compartment label.", "A3", "propagation"),
    ),
    _tool(
        "set_irrigation_schedule",
        "Overwrites the drip irrigation programme of a compartment. Takes effect at the next cycle.",
        "write",
        zone="Compartment label.",
        start_times="Comma-separated HH:MM.",
        ml_per_plant=_number("Dose per cycle."),
    ),
    _tool(
        "getNutrientRecipe",
        "EC, pH and stock ratios of the fertigation recipe in use for a crop and growth stage.",
        crop="Crop or cultivar.",
        stage=_choice("Growth stage.", "seedling", "vegetative", "flowering", "fruiting"),
    ),
    _tool(
        "sticky_trap_counts",
        "Weekly counts of whitefly, thrips and aphids on the sticky cards, with threshold flags.",
        zone="Compartment label.",
        week=_like("ISO week.", "2026-W21"),
    ),
    # Museum
    _tool(
        "search_accessions",
        "Query the collection register by maker, material, period or accession number.",
        query="Search terms.",
        department=_choice("Department.", "paintings", "textiles", "antiquities", "prints", "science"),
    ),
    _tool(
        "get_loan_agreement",
        "Terms of an incoming or outgoing loan: borrower, venue, dates, insurance value and courier requirements.",
        object_number="Accession number or title.",
    ),
    _tool(
        "listConditionReports",
        "Conservator's condition reports for an object, newest first, with noted damage and treatment advice.",
        objectNumber="Accession number or title.",
    ),
    _tool(
        "gallery_light_dose",
        "Cumulative lux-hours and UV recorded by the sensors of a gallery against its annual budget.",
        gallery=_like("Gallery number.", "G14"),
    ),
    # Film production
    _tool(
        "get_call_sheet",
        "The call sheet of a shooting day: unit call, cast pick-ups, scenes, locations and nearest A&E.",
        production="Working title.",
        day="Shooting day number or date.",
    ),
    _tool(
        "productionCostReport",
        "Weekly cost report: budget, spent to date, committed and estimate to complete for each account.",
        production="Working title.",
        account=_like("Budget account, all if left out.", "Wardrobe", "Grip & electric"),
    ),
    _tool(
        "location_permits",
        "Filming permits per location with authority, hours allowed, noise and road closure conditions.",
        location="Location name as in the script breakdown.",
    ),
    _tool(
        "search_dailies",
        "Finds takes in the dailies by slate, scene or script supervisor note.",
        scene="Scene number.",
        note=_like("Words in the supervisor's notes.", "circled", "NG sound"),
    ),
    # Insurance
    _tool(
        "get_claim_status",
        "Where a claim stands in the handling workflow, reserve amount, outstanding documents and handler.",
        claim_ref=_like("Claim reference.", "CLM-2026-004417"),
    ),
    _tool(
        "checkPolicyCoverage",
        "Evaluates whether a peril is covered under a policy, with applicable excess, limits and exclusions.",
        policyNo="Policy number.",
        peril=_like("Cause of loss.", "escape of water", "theft", "storm"),
    ),
    _tool(
        "list_adjuster_visits",
        "Site inspections planned for loss adjusters, by region or claim.",
        region="Postcode area.",
        claim_ref="Claim reference.",
    ),
    _tool(
        "score_fraud_indicators",
        "Runs the SIU rule set on a claim and returns the red flags raised with their weights.",
        claim_ref="Claim reference.",
    ),
    # Sports league
    _tool(
        "league_standings",
        "Table of a division: played, won, drawn, lost, goal difference, points.",
        division=_like("Division name.", "Women's Premier", "U15 East"),
    ),
    _tool(
        "getFixtures",
        "Scheduled matches with kick-off, venue and pitch. Filter by club or matchday.",
        club="Club name.",
        matchday=_number("Round number."),
    ),
    _tool(
        "player_suspensions",
        "Disciplinary record: cautions accumulated, dismissals and matches still to be served.",
        player="Name or registration number.",
    ),
    _tool(
        "assign_match_official",
        "Appoints a referee or assistant to a fixture and notifies both clubs.",
        "write",
        fixture_id="Fixture identifier.",
        official="Name of the official.",
        role=_choice("Role on the day.", "referee", "assistant", "fourth_official"),
    ),
    # Translation bureau
    _tool(
        "quote_translation_job",
        "Price and turnaround for a document, from word count, language pair, domain and CAT match rates.",
        source_lang="BCP 47 tag.",
        target_lang="BCP 47 tag.",
        words=_number("Source word count."),
        service=_choice("Service level.", "translation", "translation_revision", "certified"),
    ),
    _tool(
        "termbase_lookup",
        "Approved and forbidden terms of a client's glossary in the requested language.",
        client="Client code.",
        term="Source term.",
        target_lang="BCP 47 tag.",
    ),
    _tool(
        "findLinguist",
        "Vendor database search: freelance linguists by pair, specialism, rating and current capacity.",
        pair=_like("Source and target.", "da>pt-BR"),
        specialism=_choice("Subject field.", "legal", "medical", "technical", "marketing", "patents"),
    ),
    _tool(
        "get_job_progress",
        "Segments translated, revised and delivered in a running project, with the forecast hand-off.",
        job_no="Job number.",
    ),
    # Farm machinery
    _tool(
        "machine_telemetry",
        "Live CAN bus data of a tractor or combine: engine load, fuel, hydraulic temperature, fault codes, GPS.",
        asset=_like("Fleet tag.", "TR-07", "Combine 2"),
    ),
    _tool(
        "serviceIntervalsDue",
        "Maintenance items falling due by engine hours for a machine or the entire fleet.",
        asset="Fleet tag; entire fleet if left out.",
        within_hours=_number("Engine hours ahead."),
    ),
    _tool(
        "get_yield_map",
        "Harvested tonnes per hectare and grain moisture, by parcel, from the combine's yield monitor.",
        parcel="Parcel name or number.",
    ),
    _tool(
        "order_spare_part",
        "Places a purchase order with the dealer for an OEM part number.",
        "write",
        part_no=_like("OEM number.", "RE504836"),
        delivery=_choice("Delivery speed.", "standard", "overnight"),
    ),
    # Payroll
    _tool(
        "get_payslip",
        "Gross-to-net breakdown of an employee's pay run: earnings, tax, social contributions, deductions.",
        employee_no="Personnel number.",
        period=_like("Pay period.", "2026-03"),
    ),
    _tool(
        "leaveBalance",
        "Accrued, taken and remaining entitlement of annual leave, time off in lieu and parental leave.",
        employeeNo="Personnel number.",
        kind=_choice("Leave type.", "annual", "toil", "parental", "study"),
    ),
    _tool(
        "simulate_overtime_pay",
        "Calculates premiums for hours beyond contract, nights and public holidays under the collective agreement.",
        employee_no="Personnel number.",
        hours=_number("Extra hours."),
        day_type=_choice("Kind of day.", "weekday", "sunday", "public_holiday", "night"),
    ),
    _tool(
        "update_bank_details",
        "Changes the IBAN to which an employee's salary is paid. Requires HR approval.",
        "write",
        employee_no="Personnel number.",
        iban="New IBAN.",
    ),
    # Public aquarium
    _tool(
        "tank_water_chemistry",
        "Latest lab values for an exhibit: salinity, pH, ammonia, nitrite, dissolved oxygen.",
        exhibit=_like("Exhibit name.", "Kelp Forest", "Ray Pool"),
    ),
    _tool(
        "getFeedingLog",
        "What each animal was offered and consumed, when, and by which keeper.",
        animal="Name or species.",
    ),
    _tool(
        "quarantine_register",
        "Specimens held in isolation, reason, medication and earliest release to exhibit.",
        species="Common or Latin name.",
    ),
    _tool(
        "visitor_admissions",
        "Gate counts and pre-booked tickets per time slot.",
        date="Day to report.",
        slot=_choice("Half of the day.", "morning", "afternoon", "evening"),
    ),
    # Ski resort
    _tool(
        "get_lift_status",
        "Operating state and queue time of each chairlift, gondola and drag lift; wind holds included.",
        lift="Lift name; all if left out.",
    ),
    _tool(
        "avalanche_bulletin",
        "Danger level by aspect and altitude band issued by the regional warning service.",
        massif="Mountain range or sector.",
    ),
    _tool(
        "pisteGroomingReport",
        "Which runs were prepared overnight, snow depth and artificial snow production.",
        sector="Resort sector.",
        difficulty=_choice("Run grading.", "green", "blue", "red", "black"),
    ),
    _tool(
        "refund_ski_pass",
        "Issues a full or pro rata refund on a pass, by keycard number, under the terms of sale.",
        "write",
        keycard="Number on the card.",
        reason=_choice("Ground.", "injury", "closure", "duplicate", "other"),
    ),
    # Blood service
    _tool(
        "blood_stock_levels",
        "Days of supply on hand by component and ABO/Rh group across the regional depots.",
        group=_choice("ABO/Rh group.", "O-", "O+", "A-", "A+", "B-", "B+", "AB-", "AB+"),
        component=_choice("Component.", "red_cells", "platelets", "plasma"),
    ),
    _tool(
        "checkDonorEligibility",
        "Applies deferral rules (travel, medication, tattoos, interval since last donation) to a donor.",
        donorId="Donor number, if registered.",
        circumstances="Facts that may lead to deferral, free text.",
    ),
    _tool(
        "find_donation_session",
        "Upcoming mobile and fixed-site collection sessions near a postcode with free appointments.",
        postcode="Postcode.",
        within_km=_number("Search radius."),
    ),
    _tool(
        "trace_blood_unit",
        "Full chain of custody of a unit from venepuncture to transfusion or discard.",
        unit_no=_like("ISBT 128 donation number.", "G1517 26 600 001"),
    ),
    # Lift maintenance
    _tool(
        "elevator_fault_history",
        "Controller fault log and past breakdown call-outs for an installation.",
        installation="Installation number or building.",
    ),
    _tool(
        "dispatchTechnician",
        "Sends the on-call mechanic to a site; entrapments are given priority.",
        "write",
        site="Building and car.",
        urgency=_choice("Priority.", "entrapment", "out_of_service", "nuisance"),
    ),
    _tool(
        "inspection_certificates",
        "Statutory examination certificates of lifts and escalators with validity and open remarks.",
        installation="Installation number or building.",
    ),
    _tool(
        "getMaintenanceContract",
        "Scope, response times, hourly tariffs and notice period agreed with a building owner.",
        customer="Owner or managing agent.",
    ),
)
