"""What a user asks of a verb: every option, declared once."""
