"""Results to files and back: nested dictionaries of histograms and what else a pass gives (`save`,
`load`), and the histograms that a fit takes (`templates`).

Knows results and the formats of files; knows no dataset and no session.
"""
