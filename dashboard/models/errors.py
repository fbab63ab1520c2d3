"""What can be wrong with a model: all are `ValueError`, split by what the user can do about them."""


class ModelError(ValueError):
    """A model cannot be found, fed or evaluated; the message says what was found and what would be right."""


class ParameterError(ModelError):
    """A parameter of a point-to-point model is outside its allowed range."""


class SizeError(ModelError):
    """A communicator, message or segment size is outside its allowed range."""


class NotApplicableError(ModelError):
    """The algorithm does not work on that number of processes, or the model has no such formula."""


class UnitError(ModelError):
    """A formula adds or compares quantities of different units."""
