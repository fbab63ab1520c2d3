"""The dashboard of colltune: deciding between collective algorithms, exporting and showing the decision."""
