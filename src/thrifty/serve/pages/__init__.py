"""The pages that people look at: HTML from templates, refreshed in pieces, and nothing from elsewhere."""
