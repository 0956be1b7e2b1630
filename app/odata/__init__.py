"""OData 4.01: query text, data model, translation to SQL, payloads and the HTTP verbs."""
