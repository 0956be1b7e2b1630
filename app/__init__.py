"""A business platform: CRM, invoicing, knowledge base, documents, assistant, BI and webhooks."""
