"""Functions from documents that others have written, for expressions and for arrays: corrections of
correctionlib's schema. Reads the documents; the core evaluates them. Knows no query."""
