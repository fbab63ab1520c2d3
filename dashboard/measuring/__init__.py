"""What the page *Measure* does without a widget: where campaigns are kept, what was asked for, how it is started."""

__all__ = ["asked", "kept", "launching", "tunings"]
