"""Pure functions from labelled arrays to HoloViews elements, and what they share.

Every map, chart and legend takes its colours from `colors`, its axes from `axes` and its units
from `units`, so that one method has one colour and one size one spelling everywhere.
"""
