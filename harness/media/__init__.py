"""Images and PDF files on their way to the model.

* `formats`      what a file is, by its first bytes; how many pages a PDF has
* `attachment`   the content block of a file, scaled or converted to what the API takes
* `mentions`     files that a prompt names with `@`, and paths that a terminal pastes
"""
