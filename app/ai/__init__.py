"""The assistant: conversations, answers with their sources, and proposed changes."""
