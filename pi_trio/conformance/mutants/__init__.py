"""The proof that the suite can fail: mutants, each of which breaks one clause, and has to be found out.

`catalogue` has them all, `trial` judges one, `matrix` many at once; `adequacy` writes down what came of it, clause by
clause, and which clauses nobody has been seen to break. `nulls` are subjects that can do nothing, and must be granted
nothing; `tables` are mutants of the monitors' own tables.
"""
