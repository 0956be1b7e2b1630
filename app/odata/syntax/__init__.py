"""What a query says: texts to trees and back, with positions; no model, no SQL."""
