"""Making the program of a fault smaller while it stays that fault."""
