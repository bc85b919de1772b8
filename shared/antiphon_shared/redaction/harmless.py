"""Rules for which values of secret keys are harmless, and which texts look like secrets. Pure."""

import itertools
import re

_WORDS = re.compile(
    r"any|array|basic|bearer|bool|boolean|bytes|cookie|correct|default|deprecated|disabled"
    r"|empty|enabled|expired|false|hidden|incorrect|int|integer|invalid|masked|missing|"
    r"mixed|needed|nil|no|none|null|number|object|optional|password|read|redacted|"
    r"refused|rejected|required|revoked|secret|secretstr|str|string|text|token|true|"
    r"undefined|unknown|unset|valid|value|void|wrong|write|yes"
)
"""Words about a secret in schemas, type hints and messages."""
_AFTER_OPTION = re.compile(
    r"a|an|and|argument|arguments|by|can|does|flag|for|from|if|in|instead|is|must"
    r"|only|option|options|or|parameter|should|that|the|to|when|with|would"
)
"""Words after the name of an option in prose."""
_PLACEHOLDER = re.compile(
    r"redacted(?:-\d{1,9})?|\[[a-z][a-z ]{0,40}\]"  # redacted-3, [hidden]
    r"|[\W_]+|[xX]{3,}(?:[-. ][xX]+)*"  # ***, xxx-xxx
    r"|<[^<>]{1,80}>|\$?\{{2,3}[^{}]{1,80}\}{2,3}|\{[^{}=+/]{1,80}\}"  # <token>, {{ token }}
    r"|\$\([^()]{1,80}\)|\$\{[^{}:]{1,80}\}"  # ${TOKEN}; a text after a colon is a default, which may be the value
    r"|\$[A-Z_][A-Z0-9_]*|%\(?\w{1,40}\)?[sd%]|%[sdv]"  # $TOKEN, %(token)s, %TOKEN%
    r"|(?i:your)[_-][A-Za-z_-]{1,60}|[A-Z]{2,}(?:_[A-Z]+)+"  # your-api-key, API_TOKEN
)
_CODE = re.compile(
    r"[A-Za-z_]+(?:\.[A-Za-z_]\w*)*(?:[(\[]|[(\[][^()\[\]]*[)\]].*)|[a-z_]+(?:\.[a-z_]+)+;?", re.DOTALL
)
"""A call, an index, a name with dots: code that is assigned is not the value itself."""
_CHARACTERS_MIN, _DIGITS_MIN, _LETTERS_MIN = 6, 4, 21
_CHARACTERS_MAX = 200
_RANDOM_CHARACTERS_MIN = 8
_CHANGES_MIN = 0.4
"""The least share of changes between capitals, small letters and digits; random text has 0.6 on average."""
_COMMON_NUMBER = re.compile(r"\d|1[0-2]|16|32|64|128|192|256|384|509|512|1024|2048|25519|19\d\d|20\d\d")
"""A number that is common in names, such as Base64Encoder, X509Certificate and Report2024."""
_SEPARATORS = str.maketrans("", "", "-_.")
_PASSWORD = re.compile(r"[^\s()\[\]{}<>\"'`,;|\\/:=]{8,64}")
_PASSWORD_SIGN = re.compile(r"(?<=\w)[!#$&*?^](?!\Z)|(?<=\d)!\Z")
_SHARE = re.compile(r"\d%")
_FILE_OR_HOST = re.compile(
    r"[\w.*-]+\.(?:7z|ai|bak|bin|c|cc|cfg|co|com|conf|cpp|crt|css|csv|dat|db|de|dev|dll|docx?|eu|example|exe|gif|go|gz|h|html?"
    r"|ini|internal|io|ipynb|jar|java|jpe?g|js|json|jsx|key|kt|local|lock|log|md|mp[34]|net|o|org|out|p12|parquet|pdf|pem|pfx"
    r"|php|pl|png|pptx?|pyi?|rb|rs|rst|sh|so|sql|svg|tar|tgz|tmp|toml|tsv?|tsx|txt|uk|wav|whl|xlsx?|xml|ya?ml|zip)"
)
_TOKEN = re.compile(r"[\w~.+/=%-]{16,1000}", re.ASCII)
_TOKEN_CHANGES_MIN = 0.15
"""The least share of changes between letters and digits; random letters and digits have 0.26 on average, hex 0.47."""
_IN_ORDER = re.compile(
    r"[A-Za-z]{1,2}|[a-z]+|[A-Z]+s?|[A-Z]{2}[a-z]|(?:[A-Za-z](?=[A-Z][a-z]{3}))?[A-Za-z]?[a-z]{2,}(?:[A-Z][a-z]{2,}|[A-Z]{2,})*"
)
"""Letters as words and names have them: `user`, `HTTP`, `URLs`, `User`, `userName`, `UserID`, `iPhone`, `MHz`."""
_ID = re.compile(r"[a-z]{2,10}_[A-Za-z0-9_]{10,}")
"""An id such as `toolu_01AbCd...`."""
_NUMBER_OF_PROGRAM = re.compile(r"0[xX]")
_NAME_FORMS = re.compile(
    r"[A-Za-z]{1,60}(?:[-_][A-Za-z]{1,60}){0,9}[-_]?\d{1,4}|[\d.,:/+-]+[A-Za-z%]{0,3}|[a-z]{1,30}\d{0,2}(?:\.[a-z_]{2,30}){1,5}"
)
"""A word and a number, such as oauth2 and sha-256, a number and its unit, a name with dots."""


def is_harmless(value: str, key: str = "") -> bool:
    """Return whether a secret key's value is a placeholder or a word about it: `<token>`, `***`, `required`."""
    value = value.strip().strip("\"'`")
    if not value or value.lstrip("\\").startswith("[redacted"):
        return True
    forms = (value, value.rstrip(",;.)]}"))
    return len(value) < _CHARACTERS_MAX and any(
        _WORDS.fullmatch(form.lower()) or form.lower() == key.lower() or _PLACEHOLDER.fullmatch(form)
        for form in forms
    )


def is_code(value: str) -> bool:
    """Return whether an unquoted value is an expression of a program: `get_token()`, `self.token`, `os.environ[`."""
    return _CODE.fullmatch(value[:200]) is not None


def is_option_in_sentence(word: str) -> bool:
    """Return whether a word after `--password` continues a sentence: "the --password option"."""
    return _AFTER_OPTION.fullmatch(word.lower().rstrip(",.;:")) is not None


def looks_secret(word: str) -> bool:
    """Return whether a word in a sentence may be a secret: letters and digits, a number, or very many letters."""
    if "://" in word or word.startswith(("/", "./", "~/")):
        return False
    if word.isdigit():
        return len(word) >= _DIGITS_MIN
    has_digit = any(sign.isdigit() for sign in word)
    has_letter = any(sign.isalpha() for sign in word)
    return (has_digit and has_letter and len(word) >= _CHARACTERS_MIN) or (
        word.isalnum() and len(word) >= _LETTERS_MIN
    )


def looks_random(value: str) -> bool:
    """Return whether the value of a key with several meanings is a secret: `pass: x`, `auth = x`, `tokens: [x]`."""
    if " " in value or _NAME_FORMS.fullmatch(value) or is_harmless(value) or is_code(value):
        return False
    return looks_secret(value) and not value.isdigit() and len(value) >= _RANDOM_CHARACTERS_MIN


def looks_like_password(word: str) -> bool:
    """Return whether a word is a password even if no key names it: Tr0ub4dor&3, kWes4190dc, and no Base64Encoder."""
    if _PASSWORD.fullmatch(word) is None or _SHARE.search(word) or not looks_random(word):
        return False
    if _PASSWORD_SIGN.search(word) is not None:
        return True
    letters = word.translate(_SEPARATORS)
    if letters.islower() or letters.isupper() or _FILE_OR_HOST.fullmatch(word):
        return False
    return looks_generated(letters) or any(
        not _COMMON_NUMBER.fullmatch(digits) for digits in re.findall(r"\d+", word)
    )


def looks_like_token(word: str) -> bool:
    """Return whether a word is a long token, of letters and digits in no order, such as a UUID."""
    if _TOKEN.fullmatch(word) is None or not looks_random(word):
        return False
    kinds = [sign.isdigit() for sign in word.translate(_SEPARATORS) if sign.isalnum()]
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    return changes >= _TOKEN_CHANGES_MIN * len(kinds)


def looks_like_random_password(word: str) -> bool:
    """Return whether a word is a password in any context: its capitals and small letters are in random order."""
    if not looks_like_password(word) or _ID.fullmatch(word) or _NUMBER_OF_PROGRAM.match(word):
        return False
    return any(_IN_ORDER.fullmatch(letters) is None for letters in re.findall(r"[A-Za-z]+", word))


def looks_like_generated_token(word: str) -> bool:
    """Return whether a long word is a token in any context, and neither a name nor an id."""
    return looks_generated(word.translate(_SEPARATORS)) and looks_random(word) and _ID.fullmatch(word) is None


def looks_issued(word: str) -> bool:
    """Return whether a word looks like a password or a token."""
    return looks_like_password(word) or looks_like_token(word)


def has_issued_part(address: str) -> bool:
    """Return whether a part of an address looks like a password or a token."""
    return any(map(looks_issued, re.split(r"[/:@?&=]", address)))


def looks_generated(token: str) -> bool:
    """Return whether letters and digits alternate as in random text, unlike those of a name as `PageOfUser12`."""
    kinds = [0 if sign.isdigit() else 1 if sign.islower() else 2 for sign in token]
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    return min(map(kinds.count, range(3))) >= 2 and changes >= _CHANGES_MIN * len(token)


def is_card(text: str) -> bool:
    """Return whether the last digit is the check digit of the others (Luhn), as in payment card numbers."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (
        len(set(digits)) > 1
        and digits[0] in (2, 3, 4, 5, 6)
        and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    )
