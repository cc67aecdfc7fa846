"""What is seen live: one file per view, with its script and stylesheet beside it.

Importing this package loads none of them; import the view you need, for example
`from helpers.views.attention_view import AttentionView`.
"""
