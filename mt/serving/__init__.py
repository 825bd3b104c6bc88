"""`mt serve`: models behind the HTTP APIs of LibreTranslate and DeepL, and a page of its own."""
