"""What properties of Bokeh's models are by default, worked out once for each kind of model.

Bokeh works a default out whenever a property is read that nobody has set: it looks through all ancestors of the model's
class for another default, copies it and validates it. Most properties of a model are never set, and all of them are
read whenever the document counts its models anew, searches them or is written for the browser: a quarter of what
opening a page took the server.
"""

from collections.abc import Callable
from typing import Any

from bokeh.core.has_props import HasProps
from bokeh.core.property.descriptors import PropertyDescriptor
from bokeh.core.property.singletons import UndefinedType
from bokeh.model import Model, util

_work_out = PropertyDescriptor._get_default  # noqa: SLF001 - there is no public way
_visit = util.visit_immediate_value_references
#: Values of these types are the same for all models of a kind: nothing of them can be changed.
_FIXED = {type(None), bool, int, float, str, UndefinedType}
_known: dict[tuple[type[HasProps], str], Any] = {}


def _get_default(descriptor: PropertyDescriptor[Any], model: HasProps) -> Any:
    # As `HasProps.themed_values`, which takes an error and its handling where there is no theme.
    themed = vars(model).get("__themed_values__")
    if themed is not None and descriptor.name in themed:
        return _work_out(descriptor, model)
    made = model._unstable_default_values  # noqa: SLF001 - as Bokeh's own
    if descriptor.name in made:
        return made[descriptor.name]
    key = type(model), descriptor.name
    if key in _known:
        return _known[key]
    default = _work_out(descriptor, model)
    if type(default) in _FIXED and not descriptor.has_unstable_default(model):
        _known[key] = default
    return default


def _visit_references(value: Any, visitor: Callable[[Model], None]) -> None:
    if not isinstance(value, HasProps):
        _visit(value, visitor)
        return
    kind, given = type(value), value._property_values  # noqa: SLF001 - as Bokeh's own
    for name in value.properties_with_refs():
        # What is fixed for all models of a kind is no model.
        if name in given or (kind, name) not in _known:
            util.visit_value_and_its_immediate_references(getattr(value, name), visitor)


def install() -> None:
    """Have all models of this process, those of every server in it, do so."""
    PropertyDescriptor._get_default = _get_default  # noqa: SLF001 - Bokeh calls it by that name
    util.visit_immediate_value_references = _visit_references
