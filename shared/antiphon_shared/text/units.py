"""Units and currencies: their names, and the factor to the common unit of their kind. Pure."""

from decimal import Decimal

_SCALES = (
    ("m", (("mm millimetre millimetres millimeter millimeters", "0.001"), ("cm centimetre centimetres centimeter"
     " centimeters", "0.01"), ("m metre metres meter meters", "1"), ("km kilometre kilometres kilometer kilometers",
     "1000"), ("ft foot feet", "0.3048"), ("inch inches", "0.0254"), ("yd yard yards", "0.9144"),
     ("mi mile miles", "1609.344"))),
    ("m2", (("m² m2 sqm", "1"), ("hectare hectares", "10000"), ("km² km2", "1000000"), ("acre acres", "4046.86"))),
    ("g", (("mg milligram milligrams", "0.001"), ("g gram grams", "1"), ("kg kilogram kilograms kilo kilos", "1000"),
     ("lb lbs", "453.592"), ("t ton tons tonne tonnes", "1000000"))),
    ("s", (("ms millisecond milliseconds", "0.001"), ("s sec second seconds", "1"), ("min minute minutes", "60"),
     ("h hr hrs hour hours", "3600"), ("day days", "86400"), ("week weeks", "604800"))),
    ("month", (("month months", "1"), ("year years", "12"), ("decade decades", "120"))),
    ("l", (("ml millilitre millilitres milliliter milliliters", "0.001"), ("l litre litres liter liters", "1"),
     ("gallon gallons", "3.78541"))),
    ("m3", (("m³ m3", "1"),)),
    ("b", (("kb", "1000"), ("mb", "1000000"), ("gb", "1000000000"), ("tb", "1000000000000"))),
    ("w", (("w watt watts", "1"), ("kw kilowatt kilowatts", "1000"), ("mw megawatt megawatts", "1000000"),
     ("gw gigawatt gigawatts", "1000000000"))),
    ("wh", (("kwh", "1000"), ("mwh", "1000000"), ("gwh", "1000000000"))),
    ("hz", (("hz", "1"), ("khz", "1000"), ("mhz", "1000000"), ("ghz", "1000000000"))),
    ("v", (("v volt volts", "1"),)),
    ("%", (("% percent pct per-cent", "1"),)),
    ("°c", (("°c ℃ celsius", "1"),)),
    ("°f", (("°f fahrenheit", "1"),)),
    ("°", (("° degree degrees", "1"),)),
    ("usd", (("usd dollar dollars $", "1"), ("cent cents", "0.01"))),
    ("eur", (("eur euro euros €", "1"),)),
    ("gbp", (("gbp pound pounds £", "1"),)),
    ("jpy", (("jpy yen ¥", "1"),)),
    ("chf", (("chf franc francs", "1"),)),
    ("inr", (("inr rupee rupees ₹", "1"),)),
)  # fmt: skip  # a table
UNITS = {
    form: (kind, Decimal(factor))
    for kind, scale in _SCALES
    for forms, factor in scale
    for form in forms.split()
}
"""The common unit of its kind for each unit's name, and the number of common units in it."""
CURRENCIES = frozenset(("usd", "eur", "gbp", "jpy", "chf", "inr"))
