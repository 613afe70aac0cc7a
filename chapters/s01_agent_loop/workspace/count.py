"""Counts the words of notes.txt."""

text = open("note.txt").read()
print(len(text.split()), "words")
