"""How much a table takes: credit that fills every second, and what is refused when it is used up."""
