"""The answer: quotations from the tools' results, each with the id of its fact. Pure."""

from antiphon_shared.text.sentences import sentences as sentences_of
from antiphon_shared.text.words import similarity

from reasoning_engine.offline.language import content_words, stems
from reasoning_engine.offline.plan import Situation, one_at_a_time
from reasoning_engine.offline.question import Question, Reference
from reasoning_engine.offline.records import Record, is_plain, outermost
from reasoning_engine.offline.references import Resolution, concerns

SIGNATURE = "_Answered by the offline model, by rules and quotation; no language model was used._"
_QUOTED_MAX = 5
_EXCERPT_LENGTH_MAX = 420
_ITEMS_MAX = 20


def compose(situation: Situation) -> str:
    """Return the answer in Markdown: quoted and cited findings, missing parts, and the signature."""
    question = situation.question
    resolution = situation.resolution()
    reference = question.reference
    if question.compares:
        parts = _comparison(situation, reference, resolution) if reference and resolution else []
    else:
        parts = _direct(situation, resolution)
    return "\n\n".join([*parts, *_shortcomings(situation, resolution), SIGNATURE])


def _comparison(situation: Situation, reference: Reference, resolution: Resolution) -> list[str]:
    identity = _identity(reference, resolution)
    terms = frozenset(term for query in resolution.queries for term in stems(query))
    fitting = [
        record
        for record in outermost(situation.records)
        if record.overlap(terms) and not concerns(record, resolution)
    ]
    if not fitting:
        return [identity, "I found nothing else that speaks of the same in what the tools returned."]
    best = fitting[0]
    noun = situation.question.requested
    name = _requested_name(best, noun)
    in_it = f": “{_plain(best.title)}” speaks" if best.title not in ("", name) else " speaks"
    same = [record for record in fitting if _requested_name(record, noun) == name]
    parts = [
        f"**{_plain(name)}**{in_it} of the same {_cite(best)}.",
        identity,
        *(_quotation(record, terms) for record in same[:2]),
    ]
    rest = {_plain(_requested_name(r, noun)): r for r in reversed(fitting) if r not in same}
    if rest:
        listed = [f"{title} {_cite(record)}" for title, record in reversed(rest.items())]
        parts.append("Others that share words with it, less well placed: " + "; ".join(listed[:3]) + ".")
    return parts


def _direct(situation: Situation, resolution: Resolution | None) -> list[str]:
    question = situation.question
    parts = []
    if resolution is not None and question.reference and resolution.title:
        parts.append(_identity(question.reference, resolution))
    records = _latest(outermost(situation.records))
    if not records:
        return parts or ["I found nothing that answers this."]
    asked = dict.fromkeys(slots.query for slots in one_at_a_time(question.slots))
    found = [query for query in asked if any(record.overlap(stems(query)) for record in records)]
    queries = found or [question.slots.query]
    for query in queries:
        terms = question.terms | stems(query)
        fitting = _fitting(records, question, query, terms)[: max(1, _QUOTED_MAX // len(queries))]
        quotations = [_quotation(record, terms) for record in fitting]
        parts += [quotation for quotation in quotations if quotation not in parts]
    return parts


def _fitting(records: list[Record], question: Question, query: str, terms: frozenset[str]) -> list[Record]:
    """Return the records that share most terms, those with a name of the question first."""
    names = [entity.value for entity in question.slots.entities]

    def rank(record: Record) -> tuple[bool, int]:
        has_name = any(similarity(record.title, name) >= 0.8 for name in names)
        return not has_name, -min(2, record.overlap(terms))

    most = max(record.overlap(terms) for record in records)
    ranked = sorted(records, key=rank)
    return _closest([one for one in ranked if 2 * one.overlap(terms) >= most], query)


def _closest(records: list[Record], query: str) -> list[Record]:
    """Return the records with every search word that any record has; all records for fewer than two such words."""
    terms = [term for term in stems(query) if any(record.speaks_of(term) for record in records)]
    matches = [record for record in records if all(record.speaks_of(term) for term in terms)]
    return matches if len(terms) > 1 and matches else records


def _identity(reference: Reference, resolution: Resolution) -> str:
    """Return a sentence that names the thing that the question refers to."""
    pointed, cited = str(reference), _cite(resolution.record, resolution.title)
    return f"{pointed[:1].upper()}{pointed[1:]} is “{_plain(resolution.title)}” {cited}."


def _latest(records: list[Record]) -> list[Record]:
    """Return the records of the last round with results, as its calls were based on the most information."""
    last = max((record.fact.round for record in records), default=0)
    return [record for record in records if record.fact.round == last]


def _quotation(record: Record, terms: frozenset[str]) -> str:
    """Return one record: its title and plain values in a line, its longest text as a quotation."""
    texts = {
        key: value
        for key, value in record.fields.items()
        if isinstance(value, str) and (len(value) > 120 or key == "text")
    }
    title = record.titled("")
    head = [f"**{_plain(title)}**"] if title else []
    for key, value in record.fields.items():
        if key not in texts and value != title and value not in (None, "", [], {}):
            value_text = _value(value)
            head.append(value_text if key in ("title", "text") else f"{key}: {value_text}")
    text = max(texts.values(), key=lambda text: (len(terms & stems(text[:20_000])), len(text)), default="")
    quoted = f"\n\n{_excerpt(record, text, terms)}" if text else ""
    is_all_quoted = bool(text) and len(record.fact.sentences) == len(record.fact.ids)
    cited = "" if is_all_quoted else f" {_cite(record)}"
    return f"{' · '.join(head) or 'From the result'}{cited}{quoted}"


def _value(value: object) -> str:
    """Return a value in a line of text; lists item by item."""
    if isinstance(value, list):
        text = "; ".join(_value(item) for item in value[:_ITEMS_MAX])
        return text + (f"; and {len(value) - _ITEMS_MAX} more" if len(value) > _ITEMS_MAX else "")
    if isinstance(value, dict):
        return " ".join(_value(inner) for inner in value.values() if is_plain(inner))[:200]
    return _plain(str(value))


def _excerpt(record: Record, text: str, terms: frozenset[str]) -> str:
    """Return consecutive sentences, verbatim, that share most words with the question, with their fact ids."""
    sentences = record.fact.sentences
    if text != "\n".join(sentence for _, sentence in sentences):
        sentences = tuple(("", part) for part in sentences_of(text[:20_000]) if part.strip())
    best, score = 0, -1
    for start in range(len(sentences) if len(text) > _EXCERPT_LENGTH_MAX else 0):
        shared = len(terms & stems(" ".join(sentence for _, sentence in sentences[start : start + 2])))
        if shared > score:
            best, score = start, shared
    taken: dict[str, str] = {}
    left = _EXCERPT_LENGTH_MAX
    for number, (id, sentence) in enumerate(sentences[best:]):
        if number and len(sentence) > left:
            break
        taken[id or str(number)] = _plain(sentence[:left]) + ("…" if len(sentence) > left else "")
        left -= len(sentence)
    cited = ", ".join(id for id in taken if id.startswith("F"))
    return "> " + "\n> ".join(taken.values()) + (f" [{cited}]" if cited else "")


def _requested_name(record: Record, noun: str) -> str:
    """Return the record's name for the requested thing: its owner if the question asks for one, else its title."""
    return record.titled(noun) or record.title or record.text()[:80]


def _shortcomings(situation: Situation, resolution: Resolution | None) -> list[str]:
    """Return the missing parts, and the failed attempts when nothing was found."""
    question = situation.question
    notes = []
    if question.reference and question.compares and resolution is None:
        notes.append(f"I could not find out what {question.reference} is.")
    everything = " ".join(" ".join((*record.fields, record.text())) for record in situation.records).lower()
    resolved = question.reference.entity if question.reference and resolution else None
    seen = stems(everything[:200_000])
    used = " ".join(str(call.arguments) for call in situation.tried if call.facts)
    names = [entity.value for entity in question.slots.entities if entity != resolved]
    names += [] if question.compares else content_words(question.topic)
    unseen = [name for name in dict.fromkeys(names) if not stems(name) & seen and name not in used[:20_000]]
    if unseen:
        notes.append(
            "Nothing returned mentions " + ", ".join(f"“{_plain(name)}”" for name in unseen[:5]) + "."
        )
    failed = [call for call in situation.tried if not call.facts]
    if failed and (not situation.records or notes):
        lines = [
            f"- {call.tool}: {_plain(call.outcome_text)[:200] or call.outcome.replace('_', ' ')}"
            for call in failed
        ]
        notes.append("Tried without success:\n\n" + "\n".join([*dict.fromkeys(lines)][:10]))
    if not situation.tried and not situation.records:
        fits = "No tool was called: none that was offered fits the question."
        notes.append(fits if situation.tools else "No tool could be called in the only round there was.")
    return notes


def _cite(record: Record, text: str = "") -> str:
    """Return the citation of the fact with that text, or of the record's first fact."""
    matching_ids = (id for id, sentence in record.fact.sentences if text and text in sentence)
    return f"[{next(matching_ids, record.fact.id)}]"


def _plain(text: str) -> str:
    return " ".join(text.split())
