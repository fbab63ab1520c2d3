"""One thin viewer per page over the state; a page's layout is plain, so it also stands in a notebook."""
