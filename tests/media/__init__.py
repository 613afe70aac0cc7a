"""Images and PDF files."""
