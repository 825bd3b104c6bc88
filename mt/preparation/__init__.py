"""From the files of a corpus to a token store that training reads."""
