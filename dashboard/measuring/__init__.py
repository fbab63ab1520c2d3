"""What the page *Measure* does without a widget: where campaigns are kept, what was asked for, how it is started."""
