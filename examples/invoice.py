"""Extraction: an invoice as text becomes an object of a class, with exact decimals and a date.

    python examples/invoice.py

The schema says what an invoice looks like; the small model only has to copy what it reads. What a
schema cannot say, here that the lines add up, is checked when the object is there.
"""

from __future__ import annotations

import sys
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field

import guided

Amount = Annotated[Decimal, Field(ge=0, le=100_000, decimal_places=2)]

TEXT = """\
INVOICE INV-2041 of 2024-03-18, Harbour Tools
2 x hammer at 14.50 EUR
1 x workbench at 180.00 EUR
Total: 209.00 EUR
"""

EXAMPLE = """\
INVOICE INV-0007 of 2023-11-02, Paper & Sons
3 x notebook at 2.00 EUR
2 x pencil at 0.50 EUR
Total: 7.00 EUR
"""
EXAMPLE_JSON = """\
{"number": "INV-0007", "issued": "2023-11-02", "seller": "Paper & Sons", "currency": "EUR",
"lines": [{"count": 3, "what": "notebook", "price": 2.00},
{"count": 2, "what": "pencil", "price": 0.50}], "total": 7.00}""".replace("\n", " ")


class Line(BaseModel):
    """One line of an invoice."""

    count: int = Field(ge=1, le=999)
    what: str = Field(min_length=1, max_length=40)
    price: Amount


class Invoice(BaseModel):
    """What is wanted of an invoice."""

    number: str = Field(pattern=r"^INV-\d{4}$")
    issued: date
    seller: str = Field(min_length=1, max_length=40)
    currency: Literal["EUR", "USD", "GBP"]
    lines: list[Line] = Field(min_length=1, max_length=5)
    total: Amount

    @property
    def adds_up(self) -> bool:
        """Whether the total is the sum of the lines."""
        return self.total == sum(line.count * line.price for line in self.lines)


def messages(text: str) -> list[dict[str, str]]:
    """Show one invoice with its JSON, then the one that is asked for."""
    return [
        {"role": "system", "content": "You copy invoices into JSON."},
        {"role": "user", "content": EXAMPLE},
        {"role": "assistant", "content": EXAMPLE_JSON},
        {"role": "user", "content": text},
    ]


def extract(model: guided.Model, text: str, *, max_tokens: int = 200) -> Invoice:
    """Read an invoice.

    Raises:
        IncompleteError: it takes more than `max_tokens`.
    """
    result = guided.generate(
        model, messages(text), schema=Invoice, whitespace=" ?", max_tokens=max_tokens
    )
    invoice: Invoice = result.value
    return invoice


def main() -> int:
    """Read the invoice above and print what was found."""
    invoice = extract(guided.load(), TEXT)
    print(f"{invoice.number} of {invoice.issued:%d %B %Y}, from {invoice.seller}")
    for line in invoice.lines:
        print(f"  {line.count} x {line.what:<12} {line.price:>8} {invoice.currency}")
    verdict = "adds up" if invoice.adds_up else "does not add up: look at it"
    print(f"  total          {invoice.total:>8} {invoice.currency}, {verdict}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
