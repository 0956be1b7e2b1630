"""The words of the demonstration: people, companies, products, and what customers write."""
