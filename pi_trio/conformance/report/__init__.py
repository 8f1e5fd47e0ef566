"""What was found out, told to people (terminal, sequence) and to programs (document). Only here rich is used."""
