"""A small alphabet of 5 x 7 dots, so that pictures can be labelled without a drawing library."""

from __future__ import annotations

import numpy as np

Array = np.ndarray

#: seven rows of five dots a letter, a hexadecimal byte a row
_LETTERS = {
    "A": "0e11111f111111", "B": "1e11111e11111e", "C": "0e11101010110e", "D": "1c12111111121c",
    "E": "1f10101e10101f", "F": "1f10101e101010", "G": "0e11101711110f", "H": "1111111f111111",
    "I": "0e04040404040e", "J": "0702020202120c", "K": "11121418141211", "L": "1010101010101f",
    "M": "111b1515111111", "N": "11111915131111", "O": "0e11111111110e", "P": "1e11111e101010",
    "Q": "0e11111115120d", "R": "1e11111e141211", "S": "0f10100e01011e", "T": "1f040404040404",
    "U": "1111111111110e", "V": "11111111110a04", "W": "1111111515150a", "X": "11110a040a1111",
    "Y": "1111110a040404", "Z": "1f01020408101f", "0": "0e11131519110e", "1": "040c040404040e",
    "2": "0e11010204081f", "3": "1f02040201110e", "4": "02060a121f0202", "5": "1f101e0101110e",
    "6": "0608101e11110e", "7": "1f010204080808", "8": "0e11110e11110e", "9": "0e11110f01020c",
    "=": "00001f001f0000", ".": "00000000000c0c", ",": "000000000c0408", "'": "0c040800000000",
    ":": "000c0c000c0c00", "-": "0000001f000000", " ": "00000000000000",
}  # fmt: skip


def lettered(text: str, scale: int = 2) -> Array:
    """Text as an array of True where there is ink.

    >>> lettered("I", scale=1).astype(int)[0]
    array([0, 1, 1, 1, 0, 0])
    """
    columns = []
    for letter in text.upper():
        rows = bytes.fromhex(_LETTERS.get(letter, _LETTERS[" "]))
        bits = np.unpackbits(np.frombuffer(rows, np.uint8)[:, None], axis=1)[:, 3:]
        columns.append(np.pad(bits, ((0, 0), (0, 1))))
    ink = np.hstack(columns) if columns else np.zeros((7, 1), np.uint8)
    return np.kron(ink, np.ones((scale, scale), np.uint8)).astype(bool)
