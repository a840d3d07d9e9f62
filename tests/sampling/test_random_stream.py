"""The stream of random numbers: Philox4x32-10 with the seed as its key, counted."""

from __future__ import annotations

import pytest

from guided.sampling.random_stream import RandomStream, philox, uniform

ALL = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("block", "key", "wanted"),
    [  # known answers of Random123, the authors' own code
        (
            (0, 0, 0, 0),
            (0, 0),
            (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        ),
        (
            (ALL, ALL, ALL, ALL),
            (ALL, ALL),
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_the_generator_is_philox(
    block: tuple[int, int, int, int], key: tuple[int, int], wanted: tuple[int, int, int, int]
) -> None:
    assert philox(block, key) == wanted


def test_numbers_are_counted_and_any_of_them_can_be_had_again() -> None:
    stream = RandomStream(7)
    drawn = [stream.next() for _ in range(5)]
    assert stream.counter == 5
    assert drawn == [uniform(7, place) for place in range(5)]
    stream.counter = 3
    assert stream.next() == drawn[3]


def test_a_number_is_in_0_to_1_and_has_53_bits() -> None:
    numbers = [uniform(seed, place) for seed in (0, (1 << 64) - 1) for place in range(500)]
    assert all(0 <= number < 1 and (number * 2**53).is_integer() for number in numbers)
    assert len(set(numbers)) == 1000
    assert abs(sum(numbers) / 1000 - 0.5) < 4 * (1 / 12 / 1000) ** 0.5
    assert any(int(number * 2**53) & 1 for number in numbers)  # the last bit is used


def test_seeds_wrap_at_64_bits() -> None:
    assert RandomStream((1 << 64) + 3).next() == RandomStream(3).next()
