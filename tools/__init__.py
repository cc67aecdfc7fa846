"""For authors: run and tidy the lessons, carry code into the Spanish edition."""
