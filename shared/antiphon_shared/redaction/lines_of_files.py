"""Secrets in files, commands and messages with a fixed form: .netrc, `sshpass -p x`. Pure.

Each form has an expression without lookbehind for a first search of a text (`HINT`).
"""

import re
from collections.abc import Iterator
from itertools import permutations

from antiphon_shared.redaction.harmless import is_code, is_harmless, looks_generated, looks_random
from antiphon_shared.redaction.span import Form, Span
from antiphon_shared.text.native_search import NativeSearch

_LINE = r"(?:(?<![^\r\n])|(?<=\\n))[ \t]{0,20}"
"""The beginning of a line, also in JSON within text."""
_NAME = r"(?:\b|(?<=\\n))"
"""The beginning of a name, also in JSON within text."""
_GAP = r"(?:[ \t\r\n]|\\[nrt]){1,10}"
_QUOTE = r"\\{0,7}[\"']?"
_WORD = r"(?P<value>[^\s\"'\\,;<>$(){}\[\]|`][^\s\"'\\<>`|]{3,200})"
_HASH = (
    r"(?:S?SHA(?:256|384|512)?|S?MD5|CRYPT|PLAIN|CLEARTEXT|BLF-CRYPT|SHA(?:256|512)-CRYPT|ARGON2I?D?"
    r"|PBKDF2\S{0,12}|CRAM-MD5)"
)
"""The scheme of a hash or a password in braces before it."""
_BASE64_LINES = r"(?P<value>(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nr]){1,4}){1,100})"


def _form(mark: str, pattern: str, is_random: bool = False) -> Form:
    """Return a form; with `is_random` only random letters and digits count, as the words around occur in prose too."""
    return Form(mark, re.compile(pattern), looks_random if is_random else _is_value)


def _is_value(value: str) -> bool:
    return not (is_harmless(value) or is_code(value))


_FORMS = (
    # Files.
    _form("login", rf"login{_GAP}[^\s\\]{{1,100}}{_GAP}password{_GAP}{_WORD}"),  # .netrc
    _form(
        ":",  # .pgpass; neither IPv6 nor a compiler's message
        rf"{_LINE}[\w.*-]{{1,100}}:(?:[0-9]{{2,5}}|\*):(?![0-9a-fA-F:]+(?![\w]))[A-Za-z_*][\w$-]{{0,62}}:"
        r"[A-Za-z_][\w.@-]{0,62}:(?P<value>[^\s:\"'\\]{4,200})(?=[\s\"'\\]|\Z)",
    ),
    _form(
        "$", r"(?P<value>\$(?:1|5|6|y|7|apr1|2[abxy]|argon2(?:id|i|d))\$[A-Za-z0-9./$,=+]{20,})"
    ),  # crypt(3)
    _form(
        "}", rf"\{{{_HASH}\}}(?P<value>[^\s\"'\\:]{{6,300}})"
    ),  # userPassword of LDAP, passwd-file of Dovecot
    _form("JDJ", r"(?P<value>JDJ[hiy]JD[A-Za-z0-9+/]{50,}={0,2})"),  # a hash by bcrypt in base64
    _form("prv", r"\b(?P<value>[xyztuv]prv[A-Za-z0-9]{90,120})\b"),  # BIP 32
    _form(
        " ENC ", r"(?i:pass\w*|secret|key|psk\w*)[ \t]ENC[ \t](?P<value>[A-Za-z0-9+/]{16,}={0,2})"
    ),  # FortiOS
    _form(
        "task.setvariable", rf"task\.setvariable [^\]\r\n]{{0,200}}issecret=true[^\]\r\n]{{0,80}}\]{_WORD}"
    ),
    _form("::add-mask::", rf"::add-mask::{_WORD}"),
    _form("Private-Lines: ", rf"Private-Lines: [0-9]{{1,3}}(?:\s|\\[nr]){{1,4}}{_BASE64_LINES}"),  # PuTTY
    _form("kty", rf"{_QUOTE}d{_QUOTE}\s*:\s*{_QUOTE}(?P<value>[A-Za-z0-9_-]{{20,}})"),  # a JSON Web Key
    _form("EAP", r":\s{0,4}(?:EAP|XAUTH)\s{1,4}\\{0,7}[\"'](?P<value>[^\"'\\\n]{6,200})"),
    _form("PSK", r":\s{0,4}PSK\s{1,4}\\{0,7}[\"'](?P<value>[^\"'\\\n]{6,200})"),
    _form("WIFI:", r"WIFI:[^\s]{0,100}?;P:(?P<value>(?:\\.|[^;\\\s]){4,100});"),
    _form("community", rf"{_LINE}r[ow]community6?[ \t]{{1,8}}{_WORD}"),
    _form("secret ", rf"enable[ \t]{{1,4}}(?:secret|password)[ \t]{{1,4}}(?:[0-9][ \t]{{1,4}})?{_WORD}"),
    _form(
        "username",
        rf"username[ \t]\S{{1,60}}[ \t]+(?:privilege[ \t]+[0-9]{{1,2}}[ \t]+)?"
        rf"(?:password|secret)[ \t]+[0-9][ \t]+{_WORD}",
    ),
    # Commands.
    _form("sshpass", rf"sshpass[ \t]+-p[ \t]*{_QUOTE}{_WORD}"),
    _form(
        "-p", rf"\b(?:mysql|mysqldump|mysqladmin|mariadb)[ \t][^\r\n|;]{{0,100}}?(?<=[ \t])-p{_QUOTE}{_WORD}"
    ),
    _form("-p", rf"[ \t](?:-u|--username)[ \t=]\S{{1,100}}[ \t]+-p[ \t]+{_QUOTE}{_WORD}"),
    _form("-pass", rf"-pass(?:in|out)?[ \t]+{_QUOTE}pass:{_WORD}"),
    _form("oauth2-bearer", rf"--oauth2-bearer[ \t=]{{1,4}}{_QUOTE}{_WORD}"),
    _form(
        "http", rf"\bhttps?[ \t][^\r\n|;]{{0,80}}?(?:-a|--auth)[ \t=]{{1,4}}{_QUOTE}[^\s:\"']{{1,80}}:{_WORD}"
    ),
    _form(
        "htpasswd",
        rf"htpasswd[ \t]+-[A-Za-z]*b[A-Za-z]*[ \t]+\S{{1,100}}[ \t]+\S{{1,60}}[ \t]+{_QUOTE}{_WORD}",
    ),
    _form("ldap", rf"\bldap[a-z]{{1,12}}[ \t][^\r\n|;]{{0,120}}?(?<=[ \t])-w[ \t]{{1,4}}{_QUOTE}{_WORD}"),
    _form("/user:", rf"/user:\S{{1,80}}[ \t]{{1,4}}{_QUOTE}{_WORD}"),
    _form("SecureString", rf"ConvertTo-SecureString[ \t]+(?:-String[ \t]+)?\\{{0,7}}[\"']{_WORD}"),
    _form(
        "'", r"(?i:\b(?:IDENTIFIED[ \t]+BY|PASSWORD))[ \t]+(?:=[ \t]*)?N?\\{0,7}'(?P<value>[^'\r\n]{4,200})'"
    ),
    _form("IDENTIFIED", rf"IDENTIFIED[ \t]+BY[ \t]+{_QUOTE}{_WORD}", is_random=True),
    _form(
        "auth",
        rf"\bauth\s{{0,4}}[=:]\s{{0,4}}[(\[]\s{{0,4}}\\{{0,7}}[\"'][^\"'\\]{{1,100}}\\{{0,7}}[\"']\s{{0,4}},"
        rf"\s{{0,4}}\\{{0,7}}[\"']{_WORD}",
    ),
    _form(
        " -P ",
        rf"{_NAME}(?:mosquitto_(?:pub|sub)|(?:un)?zip)[ \t][^\r\n|;]{{0,100}}?(?<=[ \t])-P[ \t]{{1,4}}{_QUOTE}{_WORD}",
    ),
    _form("redis-cli", rf"redis-cli[ \t][^\r\n|;]{{0,100}}?(?<=[ \t])-a[ \t]{{1,4}}{_QUOTE}{_WORD}"),
    _form("openssl enc", rf"openssl enc[ \t][^\r\n|;]{{0,100}}?(?<=[ \t])-k[ \t]{{1,4}}{_QUOTE}{_WORD}"),
    _form("lftp -u", rf"lftp -u[ \t]?[^\s,]{{1,60}},{_WORD}"),
    _form("storepass", rf"-\w{{0,8}}storepass[ \t]{{1,4}}{_QUOTE}{_WORD}", is_random=True),
    _form("-keypass", rf"-keypass[ \t]{{1,4}}{_QUOTE}{_WORD}", is_random=True),
    _form(
        "chpasswd",
        rf"{_NAME}echo[ \t]+{_QUOTE}[\w.-]{{1,60}}:{_WORD}{_QUOTE}[ \t]{{0,4}}\|[ \t]{{0,4}}(?:sudo )?chpasswd",
    ),
    _form("masterauth", rf"{_NAME}masterauth[ \t]{{1,8}}{_QUOTE}{_WORD}", is_random=True),
    _form(
        "rootpw",
        rf"{_NAME}rootpw[ \t]{{1,8}}(?:--\w{{1,20}}[ \t]{{1,8}}){{0,3}}{_QUOTE}{_WORD}",
        is_random=True,
    ),
    _form("community", rf"snmp-server[ \t]community[ \t]{_WORD}"),
    _form("stats auth", rf"{_NAME}stats auth[ \t]{{1,4}}[^\s:]{{1,60}}:{_WORD}"),
    _form("sqlplus", rf"sqlplus[ \t][^\r\n|;/]{{0,60}}?[\w$]{{1,60}}/{_WORD}(?=@)"),
    _form("-setcookie", rf"-setcookie[ \t]{{1,4}}{_QUOTE}{_WORD}", is_random=True),
    _form("http-basic.", rf"http-basic\.[\w.-]{{1,60}}[ \t]{{1,4}}\S{{1,60}}[ \t]{{1,4}}{_QUOTE}{_WORD}"),
    _form("NKEY SEED", r"NKEY SEED-----(?:\s|\\[nr]){1,4}(?P<value>S[A-Z2-7]{40,60})"),
    # Calls of programs.
    _form("assword(", rf"{_NAME}set\w{{0,30}}Password\([ \t]{{0,4}}\\{{0,7}}[\"']{_WORD}"),
    _form(
        "NetworkCredential",
        rf"NetworkCredential\([ \t]{{0,4}}\\{{0,7}}[\"'][^\"'\\]{{0,100}}\\{{0,7}}[\"'],\s{{0,4}}\\{{0,7}}[\"']{_WORD}",
    ),
    # Commands of programs to servers.
    _form("PASS ", rf"{_LINE}PASS[ \t]{_WORD}", is_random=True),
    _form("LOGIN ", rf"{_LINE}(?!CREATE|ALTER|DROP)\w{{1,10}}[ \t]LOGIN[ \t]\S{{1,100}}[ \t]{_WORD}"),
    _form(
        "AUTH ",
        rf"{_LINE}AUTH[ \t](?:[\w.-]{{1,60}}[ \t])?(?![A-Z]{{2,}}[ \t]){_WORD}[ \t]*(?=[\r\n]|\\[nr]|\Z)",
    ),
    _form("jdbc:oracle", rf"jdbc:oracle:\w{{1,10}}:[\w.-]{{1,60}}/{_WORD}(?=@)"),
    _form("code=", r"[?&#]code=(?P<value>[A-Za-z0-9._~/-]{20,}={0,2})(?=&|\s|[\"'\\]|\Z)", is_random=True),
    _form("SAML", r"\bSAML(?:Response|Request|Art)=(?P<value>[A-Za-z0-9+/%=]{20,})"),
    _form("SSWS ", r"SSWS (?P<value>[A-Za-z0-9_-]{30,})"),
)
_UNKNOWN = re.compile(
    r"(?<![A-Za-z0-9_+/=.-])[A-Za-z][A-Za-z0-9]{1,11}[_-](?:[A-Za-z0-9]{1,8}[_-])?(?P<drawn>[A-Za-z0-9]{28,200})"
    r"(?![A-Za-z0-9_+/-])"
)
"""A token of an unknown issuer: a short prefix, and many random characters. Ids have fewer."""
_GENERATED_HINT = "[_-][A-Za-z0-9]*(?:{})".format(
    "|".join(map("[A-Za-z0-9]*".join, permutations(("[A-Z]", "[a-z]", "[0-9]"))))
)
"""Capitals, small letters and digits in any order: to count the characters would take many states."""
_MARKS = tuple(
    dict.fromkeys(
        form.mark
        for form in _FORMS
        if form.mark not in (":", "$", "'", "-p", "http", "auth", "}", "EAP", "JDJ", "prv")
    )
)
HINT = "|".join(
    (
        *map(re.escape, _MARKS),
        r":(?:[0-9]{2,5}|\*):[A-Za-z_*]",
        rf"\{{{_HASH}\}}".replace(r"\S", "[^ ]"),
        r"(?:EAP|XAUTH)[\s\\]|JDJ[hiy]JD|[xyztuv]prv[A-Za-z0-9]{40}",
        r"\$(?:1|5|6|y|7|apr1|2[abxy]|argon2(?:id|i|d))\$",
        r"(?i:identified[ \t]+by|password)[ \t]+(?:=[ \t]*)?N?\\*'",
        r"auth\s{0,4}[=:]\s{0,4}[(\[]",
        _GENERATED_HINT,
        r"[ \t]-p|[ \t](?:-a|--auth)[ \t=]",
    )
)
"""An expression that matches in every text that may contain one of these forms."""
_SEARCH = NativeSearch(HINT)


def in_lines(text: str) -> Iterator[Span]:
    """Yield the values in all such forms."""
    if not _SEARCH.may_match(text):
        return
    for form in _FORMS:
        yield from form.values(text)
    for match in _UNKNOWN.finditer(text):
        if looks_generated(match["drawn"]):
            yield Span(*match.span())
