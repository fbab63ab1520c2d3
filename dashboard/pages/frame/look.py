"""How the frame of the page looks: Material UI's theme, the header and the navigation in it."""

#: One accent, in light and in dark; all else of the frame is neutral. Words are written as words, and what stands over
#: a slider is smaller than what is chosen in a field.
_WORDS = {
    # Framed: a map that is white, for nothing is lost, is seen to be one.
    "chart_style": "standard",
    "typography": {"button": {"textTransform": "none"}},
    "components": {
        "MuiFormLabel": {"styleOverrides": {"root": {"&:not(.MuiInputLabel-root)": {"fontSize": "14px"}}}},
        "MuiTab": {"styleOverrides": {"root": {"minWidth": 0, "padding": "12px 10px"}}},
    },
}
THEME = {
    name: {"palette": {"primary": {"main": main}}, **_WORDS}
    for name, main in (("light", "#0b6bcb"), ("dark", "#5aa9ff"))
}
FRAME = {
    "& .header.MuiAppBar-root": {
        "backgroundColor": "background.paper",
        "backgroundImage": "none",
        "color": "text.primary",
        "boxShadow": "none",
        "borderBottom": "1px solid",
        "borderColor": "divider",
    },
    "& .MuiToolbar-root": {"minHeight": "48px !important"},
    "& .header .title": {"color": "text.primary", "fontSize": "20px"},
    # As wide as a page at twice its size: the names of the pages, the link and the theme are all that fits.
    "@media (max-width: 740px)": {
        "& .header .title": {"display": "none"},
        "& .header .MuiToolbar-root": {"paddingLeft": "4px", "paddingRight": "4px"},
    },
}
ON_HEADER = {
    "& .MuiToggleButton-root": {
        "border": 0,
        "borderRadius": 0,
        "px": 1.75,
        "color": "text.secondary",
        "textTransform": "none",
        "fontSize": "14px",
        "boxShadow": "none",
    },
    # The widget has a look of its own for the same elements by their other class.
    "& .MuiButtonBase-root.Mui-selected": {
        "color": "var(--panel-primary-color) !important",
        "backgroundColor": "transparent !important",
        "boxShadow": "inset 0 -2px currentColor",
        "fontWeight": 600,
    },
    "& .MuiButtonBase-root:hover": {"backgroundColor": "rgba(128, 128, 128, 0.15) !important"},
    # In a narrow window, and on a tablet held upright, all of the header is to fit beside the title.
    "@media (max-width: 1240px)": {"& .MuiToggleButton-root": {"px": 0.75, "fontSize": "13px", "letterSpacing": 0}},
    "@media (max-width: 860px)": {"& .MuiToggleButton-root": {"px": 0.25, "fontSize": "12px", "letterSpacing": 0}},
}
