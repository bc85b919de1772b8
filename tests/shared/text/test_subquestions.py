"""Queries as people write them, and the questions they consist of."""

from antiphon_shared.text.subquestions import PARTS_MAX, QUERY_CHARACTERS_MAX, sub_questions
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row

PARTED = {
    "Who teaches MCP, and who wrote the book?": ("Who teaches MCP", "who wrote the book?"),
    "Who teaches MCP and when does it start?": ("Who teaches MCP", "when does it start?"),
    "how many people work at Acme and what is its revenue": (
        "how many people work at Acme and what is its revenue",
    ),
    "how many people does Acme employ and what is its revenue": (
        "how many people does Acme employ",
        "what is its revenue",
    ),
    "What's the capital of Peru, and what's its population?": (
        "What's the capital of Peru",
        "what's its population?",
    ),
    "Who wrote Dune, when was it published, and who directed the film?": (
        "Who wrote Dune",
        "when was it published",
        "who directed the film?",
    ),
    "For course B, who teaches it, and when does it start?": (
        "For course B, who teaches it",
        "when does it start?",
    ),
    "Which courses teach MCP, and do any of them cover agents?": (
        "Which courses teach MCP",
        "do any of them cover agents?",
    ),
    "Who is the director who made Alien, and when was he born?": (
        "Who is the director who made Alien",
        "when was he born?",
    ),
    "Which company bought the firm that Ann Lee founded, and how much did it pay?": (
        "Which company bought the firm that Ann Lee founded",
        "how much did it pay?",
    ),
    "Which course does he like and who teaches it?": ("Which course does he like", "who teaches it?"),
    "Who owns the patent; when does it run out?": ("Who owns the patent", "when does it run out?"),
    "I live in Berlin and read Dr. Smith. Who is the mayor? How many people live there?": (
        "Who is the mayor?",
        "How many people live there?",
    ),
    "Is it open on Sunday? Really? When does it close?": (
        "Is it open on Sunday? Really?",
        "When does it close?",
    ),
    'Who wrote "Who\'s there? And why?" and when was it published?': (
        'Who wrote "Who\'s there? And why?"',
        "when was it published?",
    ),
    "1. Who teaches B?\n2. When does it start?\n3) How much is it?": (
        "Who teaches B?",
        "When does it start?",
        "How much is it?",
    ),
    "Please answer:\n- who teaches B\n- when it starts\n- what it costs": (
        "who teaches B",
        "when it starts",
        "what it costs",
    ),
    "Find the course that covers the topic of lesson 4, then tell me who teaches it.": (
        "Find the course that covers the topic of lesson 4",
        "tell me who teaches it",
    ),
    "Summarize the report; compare it with last year's; recommend what to do next.": (
        "Summarize the report",
        "compare it with last year's",
        "recommend what to do next",
    ),
    "Who wrote Dune? Then list his other books.": ("Who wrote Dune?", "Then list his other books"),
    "Qui a écrit Dune ? Quand est-il sorti ?": ("Qui a écrit Dune ?", "Quand est-il sorti ?"),
    "Wer schrieb den Roman? Wann ist er erschienen?": ("Wer schrieb den Roman?", "Wann ist er erschienen?"),
    "谁写了沙丘？它是什么时候出版的？": ("谁写了沙丘？", "它是什么时候出版的？"),
    "من كتب هذا الكتاب؟ ومتى نُشر الكتاب؟": ("من كتب هذا الكتاب؟", "ومتى نُشر الكتاب؟"),
}

WHOLE = [
    "What is the salt and pepper shaker made of?",
    "When did Simon and Garfunkel split up?",
    "Which prime numbers lie between 2 and 30?",
    "What are the terms and conditions?",
    "When and where was Ada Lovelace born?",
    "How and why did the empire fall?",
    "In which year and in what city was he born?",
    "Which country in Europe and which country in Asia have the longest coast?",
    "Who founded it and when?",
    "What is the difference between what people say and what they do?",
    "What is the name of the city where he was born and where he died?",
    "How does the price change when demand falls and when supply rises?",
    "Which actor was born in Rome and who was also in Avatar?",
    "Who is the actor who starred in Alien and who directed Galaxy?",
    "Name the film that won in 1990, and whose director was Danish.",
    "Where is the castle of the duke, who was the last of his line?",
    "Which city lies on the Seine, and is the capital of France?",
    "Who wrote Guess Who and What Ever Happened to Baby Jane?",
    'Who sang "Where are you, and who am I?"?',
    "What does the song (who are you? and who am I?) mean?",
    "See https://a.example/b?c=d and say what it is.",
    "I read Dr. Smith's book. Who is he, really?",
    "Find and list all courses on agents.",
    "Tell me how to identify and describe rare birds.",
    "Compare the salt and pepper shakers.",
    "Compare laptops with touchscreens and tablets",
    "Compare Simon and Garfunkel with Hall and Oates.",
    "Compare Python and Rust on speed.",
    "Can you help me? Who wrote Dune?",
    "Who wrote Dune? Explain your reasoning in two sentences.",
    "Who wrote Dune? Any ideas?",
    "Tell me for each course:\n- teacher\n- price",
    "MCP",
    "?",
    "???",
    "Where? When?",
    "Wer hat das Buch geschrieben und wann ist es erschienen?",
]


@each_row(("query", "parts"), PARTED.items())
def test_a_query_with_several_questions_is_split(query: str, parts: tuple[str, ...]) -> None:
    assert sub_questions(query) == parts


@each_row("query", WHOLE)
def test_a_query_with_one_question_or_an_unclear_one_stays_whole(query: str) -> None:
    assert sub_questions(query) == (query,)


def test_the_last_part_holds_all_questions_beyond_the_bound() -> None:
    questions = [f"Who is number {number}?" for number in range(PARTS_MAX + 3)]

    parts = sub_questions(" ".join(questions))

    assert parts == (*questions[: PARTS_MAX - 1], " ".join(questions[PARTS_MAX - 1 :]))


def test_a_query_with_a_long_text_in_it_stays_whole() -> None:
    query = "Who is meant here? What do they want? " + "He asked who it was. Who was it? " * 3_000

    assert len(query) > QUERY_CHARACTERS_MAX
    assert sub_questions(query) == (query,)


def test_an_empty_question_has_no_parts() -> None:
    assert sub_questions(" \n") == ()


PIECES = st.lists(
    st.sampled_from(
        ["Who", "who", "is", "what", "and", ", and", "then", "tell me", "it", "Compare", "A", "B", "on", "with",
         "?", "? ", ";",
         ".", "\n", "\n- ", "1. ", '"', "(", ")", "？", "؟", "α", "\u2028", "\ud800", "https://a?b ", "the", "list the"]
    )
    | st.text(max_size=6),
    max_size=30,
)  # fmt: skip


@given(PIECES, st.sampled_from([" ", ""]))
def test_every_part_is_a_trimmed_slice_of_the_query_in_its_order(pieces: list[str], between: str) -> None:
    query = between.join(pieces)

    parts = sub_questions(query)

    assert len(parts) <= PARTS_MAX
    assert parts or not query.strip()
    if len(parts) > 1:
        at = 0
        for part in parts:
            assert part
            assert part == part.strip()
            at = query.index(part, at) + len(part)
