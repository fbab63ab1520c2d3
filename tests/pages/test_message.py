"""What pages have to say: as it is, unless it is their own."""

from dashboard.pages.parts.widgets import Message


def test_what_files_decide_is_shown_as_it_is() -> None:
    message = Message()
    assert not message.visible
    message.say("<b>a</b> [b](javascript:c) *d*", "warning")
    assert (message.visible, message.severity, message.text) == (True, "warning", "<b>a</b> [b](javascript:c) *d*")
    assert message.object == r"\<b\>a\<\/b\> \[b\]\(javascript\:c\) \*d\*"
    message.say("the page **Data**", linked=True)
    assert (message.object, message.severity) == ("the page **Data**", "info")
    message.say("")
    assert not message.visible
