"""`date`, `time`, `date-time` and `duration`.

Source: RFC 3339, section 5.6 for the syntax, 5.7 for the lengths of months and leap seconds,
appendix A for durations, appendix C for leap years (Gregorian, also before 1582 and in year 0).

A leap second, `:60`, comes at the end of a month, where it is 23:59 in UTC: what stands there as
the local time and date depends on the offset behind it. Which months had one is not looked up. The
offset is a multiple of 15 minutes, as all have been since there are leap seconds (1972); any offset
would be 1,440 local times, and as many states to tell them apart.
"""

from __future__ import annotations

from guided.text.json_schema.strings.formats.notation import DIGIT, Notation, charset

# Where the clock stands, in minutes, at 23:59 in UTC.
_MINUTES = (14, 29, 44, 59)


def date(n: Notation) -> int:
    """Match full-date: a day that exists."""
    return n.either(
        n.row(n.many(n.one_of(DIGIT), 4, 4), "-", _month_and_day(n)),
        n.row(_leap_year(n), "-02-29"),
    )


def time(n: Notation) -> int:
    """Match full-time: a time of day with its offset from UTC."""
    return n.either(_ordinary_time(n), *_leap_seconds(n))


def date_time(n: Notation) -> int:
    """Match date-time; its letters may be small."""
    separator = n.word("T")
    same_day, next_day = _leap_seconds(n)
    first_of_a_month = n.row(n.many(n.one_of(DIGIT), 4, 4), "-", _month(n), "-01")
    return n.either(
        n.row(date(n), separator, _ordinary_time(n)),
        n.row(_last_of_a_month(n), separator, same_day),
        n.row(first_of_a_month, separator, next_day),
    )


def duration(n: Notation) -> int:
    """Match duration: units in order, none left out between two, weeks by themselves.

    Its letters are capital. By RFC 5234 they need not be, but for these appendix A defers to ISO
    8601, which has them so.
    """
    number = n.many(n.one_of(DIGIT), 1)

    def chain(units: str) -> int:
        rest = 0
        options = []
        for unit in reversed(units):
            rest = n.row(number, unit, rest)
            options.append(rest)
            rest = n.maybe(rest)
        return n.either(*options)

    clock = n.row("T", chain("HMS"))
    calendar = n.row(chain("YMD"), n.maybe(clock))
    return n.row("P", n.either(calendar, clock, n.row(number, "W")))


def _leap_year(n: Notation) -> int:
    digit = n.one_of(DIGIT)
    # Two digits that are a multiple of 4, but 00.
    fourth = n.either(
        n.row("0", n.one_of(charset("48"))),
        n.row(n.one_of(charset("2468")), n.one_of(charset("048"))),
        n.row(n.one_of(charset("13579")), n.one_of(charset("26"))),
    )
    return n.either(n.row(digit, digit, fourth), n.row(n.either(fourth, "00"), "00"))


def _common_year(n: Notation) -> int:
    digit = n.one_of(DIGIT)
    # Two digits that are no multiple of 4.
    other = n.either(
        n.row(n.one_of(charset("02468")), n.one_of(charset("1-35-79"))),
        n.row(n.one_of(charset("13579")), n.one_of(charset("013-57-9"))),
    )
    return n.either(n.row(digit, digit, other), n.row(other, "00"))


def _month(n: Notation) -> int:
    return n.either(n.row("0", n.one_of(charset("1-9"))), n.row("1", n.one_of(charset("0-2"))))


def _month_and_day(n: Notation) -> int:
    """Match a month and one of its days, February having 28."""
    digit = n.one_of(DIGIT)
    first_week = n.row("0", n.one_of(charset("1-9")))
    teens = n.row("1", digit)
    days_28 = n.either(first_week, teens, n.row("2", n.one_of(charset("0-8"))))
    days_30 = n.either(first_week, n.row(n.one_of(charset("12")), digit), "30")
    days_31 = n.either(days_30, "31")
    return n.either(
        n.row("0", n.one_of(charset("13578")), "-", days_31),
        n.row("1", n.one_of(charset("02")), "-", days_31),
        n.row(n.either(n.row("0", n.one_of(charset("469"))), "11"), "-", days_30),
        n.row("02-", days_28),
    )


def _last_of_a_month(n: Notation) -> int:
    """Match the last day of a month, with its year."""
    year = n.many(n.one_of(DIGIT), 4, 4)
    long = n.either(n.row("0", n.one_of(charset("13578"))), n.row("1", n.one_of(charset("02"))))
    short = n.either(n.row("0", n.one_of(charset("469"))), "11")
    usual = n.either(n.row(long, "-31"), n.row(short, "-30"))
    return n.either(
        n.row(year, "-", usual),
        n.row(_common_year(n), "-02-28"),
        n.row(_leap_year(n), "-02-29"),
    )


def _hour(n: Notation) -> int:
    return n.either(
        n.row(n.one_of(charset("01")), n.one_of(DIGIT)), n.row("2", n.one_of(charset("0-3")))
    )


def _sixty(n: Notation) -> int:
    """Match a number from 00 to 59."""
    return n.row(n.one_of(charset("0-5")), n.one_of(DIGIT))


def _fraction(n: Notation) -> int:
    return n.maybe(".", n.many(n.one_of(DIGIT), 1))


def _ordinary_time(n: Notation) -> int:
    hour, sixty = _hour(n), _sixty(n)
    offset = n.either(n.word("Z"), n.row(n.one_of(charset("+-")), hour, ":", sixty))
    return n.row(hour, ":", sixty, ":", sixty, _fraction(n), offset)


def _leap_seconds(n: Notation) -> tuple[int, int]:
    """Match 23:59:60 in UTC as a local time with its offset: on the same day, and on the next."""
    fraction = _fraction(n)
    hours = [n.text(f"{hour:02}") for hour in range(24)]

    def paired(first: list[int], minute: int, second: list[int], offset: str) -> int:
        """Match hours with those at the same place in another list."""
        between = n.row(f":{minute:02}:60", fraction, offset[0])
        pairs = zip(first, second, strict=True)
        # The arena is asked directly: this is what a date costs.
        options = [n.arena.sequence((hour, between, off)) for hour, off in pairs]
        return n.row(n.arena.choice(options), offset[1:])

    # Here the local time is 23:59 less the offset, there it is the offset less one minute.
    back = hours[::-1]
    west = (paired(hours, minute, back, f"-:{59 - minute:02}") for minute in _MINUTES)
    east = (paired(hours, minute, hours, f"+:{minute + 1:02}") for minute in _MINUTES[:-1])
    full = paired(hours[:-1], 59, hours[1:], "+:00")
    at_once = n.row("23:59:60", fraction, n.either(n.word("Z"), "+00:00"))
    return n.either(at_once, *west), n.either(*east, full)
