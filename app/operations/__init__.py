"""Operations of the business: declared once, offered in REST, OData, the console and elsewhere."""
