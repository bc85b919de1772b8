"""Eighty questions in words of everyday life, each with the tools that it needs; written before the ranking was."""

from typing import NamedTuple


class Question(NamedTuple):
    """A question, and the tools without which it cannot be answered."""

    text: str
    needs: tuple[str, ...]


def _asks(text: str, *needs: str) -> Question:
    return Question(text, needs)


QUESTIONS = (
    _asks("Do I need an umbrella in Lyon tomorrow?", "get_forecast"),
    _asks("Will it rain on our garden party in Kent this Saturday?", "get_forecast"),
    _asks("Is the smog in Delhi too bad to go jogging today?", "get_air_quality"),
    _asks("Write to our supplier that the goods arrived broken.", "send_email"),
    _asks("Let Maria know that I am running ten minutes late.", "send_email"),
    _asks("What did Tom write to me about the contract last month?", "search_inbox"),
    _asks("Did anybody send me the voucher for the spa?", "search_inbox"),
    _asks("Put lunch with Ana into my diary for Thursday noon.", "create_calendar_event"),
    _asks(
        "Get Priya, Jonas and me together for an hour next week, whenever all of us can.",
        "find_free_slots",
        "create_calendar_event",
    ),
    _asks("When do Lena and Omar both have nothing on?", "find_free_slots"),
    _asks("Don't let me forget to water the plants at six.", "set_reminder"),
    _asks("Nudge me in half an hour to take the cake out of the oven.", "set_reminder"),
    _asks("Which spreadsheets are in the directory of the finance team?", "list_files"),
    _asks("Kim should be able to change the budget spreadsheet.", "share_file"),
    _asks("Who looks after the client Nordwind, and how do we reach them?", "get_customer"),
    _asks("The deal with Acme is through, they signed for 40,000.", "update_opportunity"),
    _asks("What has client 8812 bought from us this year?", "list_orders"),
    _asks("She was charged twice, give her the money back.", "refund_payment"),
    _asks("Return 20 euros to the buyer for the scratched lamp.", "refund_payment"),
    _asks("Where is my parcel 1Z999 right now?", "track_shipment"),
    _asks("When will the package from DHL get here?", "track_shipment"),
    _asks("Do we still have any blue chairs left in Hamburg?", "check_inventory"),
    _asks("Are we running out of brass nuts?", "check_inventory"),
    _asks("Bill Acme for twelve hours of consulting.", "create_invoice"),
    _asks("How many dollars do I get for 500 euros?", "get_exchange_rate"),
    _asks("What was the yen worth against the pound last Friday?", "get_exchange_rate"),
    _asks("How are Nvidia shares doing?", "get_stock_quote"),
    _asks("How much did I spend on food in March?", "list_transactions"),
    _asks("Has my landlord's deposit arrived on my account yet?", "list_transactions"),
    _asks("I paid the taxi to the fair myself, I want that money back from the company.", "submit_expense"),
    _asks("I am ill and will stay home until Wednesday.", "request_leave"),
    _asks("I want to take two weeks off in August.", "request_leave"),
    _asks("Who is the boss of Ingrid in accounting?", "get_employee"),
    _asks("What is the extension of the colleague who runs the Oslo branch?", "get_employee"),
    _asks("How well does this applicant fit our opening for a data engineer?", "score_resume"),
    _asks("What is the cheapest way to fly from Vienna to Lisbon in May?", "search_flights"),
    _asks("Are there seats on a plane to Boston on Sunday night?", "search_flights"),
    _asks("We need a place to sleep in Prague for three nights.", "book_hotel"),
    _asks("Can a Brazilian citizen travel to Japan without papers arranged beforehand?", "get_visa_requirements"),
    _asks("How long does it take to bike from here to the harbour?", "get_directions"),
    _asks("What is the fastest way to the airport by car?", "get_directions"),
    _asks("Is there somewhere to eat close to the office?", "find_nearby_places"),
    _asks("Where can I get cash around here?", "find_nearby_places"),
    _asks("Is the 8:14 to Zurich on time?", "get_train_departures"),
    _asks("How do you say 'the meeting is postponed' in Polish?", "translate_text"),
    _asks("Put this letter into German for our partner and mail it to him.", "translate_text", "send_email"),
    _asks("Give me the gist of the annual report.", "summarize_document"),
    _asks("I have no time to read all 80 pages, what are the main points?", "summarize_document"),
    _asks("Which companies and persons are named in this article?", "extract_entities"),
    _asks("Are these reviews happy or angry?", "classify_sentiment"),
    _asks("Type up what was said in yesterday's interview tape.", "transcribe_audio"),
    _asks("Make me a picture of a fox reading a newspaper.", "generate_image"),
    _asks("How many kilos are 12 stone?", "convert_units"),
    _asks("What is 350 Fahrenheit in Celsius?", "convert_units"),
    _asks("How much is 17 percent of 4,830 plus 12?", "evaluate_expression"),
    _asks("How many users signed up per month last year, as a graph?", "run_sql", "draw_chart"),
    _asks("Show me the share of each region as a pie.", "draw_chart"),
    _asks("What do people online say about the new tram line?", "search_web"),
    _asks("What does 'perspicacious' mean?", "define_word"),
    _asks("What can I cook with leeks and potatoes?", "find_recipes"),
    _asks("I have guests who eat no meat, what shall I serve for dinner?", "find_recipes"),
    _asks("How fattening is an avocado?", "get_nutrition"),
    _asks("How much protein is in a cup of lentils?", "get_nutrition"),
    _asks("May I take ibuprofen together with warfarin?", "check_drug_interactions"),
    _asks("I have a strange rash and want somebody to look at it next week.", "book_appointment"),
    _asks("My tooth hurts, who can see me tomorrow?", "book_appointment"),
    _asks("I ran 8 kilometres in 45 minutes this morning, write that down.", "log_workout"),
    _asks("It is freezing in the bedroom, make it warmer.", "set_thermostat"),
    _asks("Make it a bit darker in the living room for the film.", "control_lights"),
    _asks("Put on something by Miles Davis in the kitchen.", "play_music"),
    _asks("The checkout server hangs, kick it.", "restart_service"),
    _asks(
        "Why did the checkout crash last night? Look for exceptions and open a ticket.",
        "query_logs",
        "create_issue",
    ),
    _asks("How busy was the processor of web-3 during the sale?", "get_metrics"),
    _asks("The save button does nothing in Firefox, report that to the developers.", "create_issue"),
    _asks("Has anybody approved my changes in number 481 yet?", "get_pull_request"),
    _asks("Our secret token leaked, replace it.", "rotate_api_key"),
    _asks("Do any of the libraries that we use have security holes?", "scan_dependencies"),
    _asks("How have judges ruled on dismissals during pregnancy?", "search_case_law"),
    _asks("I am looking for a flat with three bedrooms in Leeds under 1,500 a month.", "search_listings"),
    _asks("Did Arsenal win last night, and by how many goals?", "get_match_results"),
)  # fmt: skip  # a table
assert len(QUESTIONS) == 80
