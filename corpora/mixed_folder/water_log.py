"""Reads the log of the rain tank and says on how many days it ran dry."""

FULL = 4000  # litres the tank holds
EMPTY = 200  # below this the pump draws air and is switched off


def dry_days(levels: list[int]) -> int:
    """Days whose evening level is at or below EMPTY. Levels are in litres, one a day."""
    return sum(level <= EMPTY for level in levels)


def refill_time(level: int, litres_per_hour: int = 250) -> float:
    """Hours until the tank is full again when the mains valve is open."""
    return (FULL - level) / litres_per_hour
