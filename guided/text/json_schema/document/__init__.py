"""A schema document, before any keyword is read.

What schemas there are in it and where (`places`), what its references lead to (`references`,
`resources`, `uris`), also in other documents (`remote_documents`), and which draft of the standard
each schema is written in (`dialects`).
"""
