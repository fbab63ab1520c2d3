"""A campaign: its plan, its folder, how it is started, followed and resumed."""
