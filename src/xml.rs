//! XML documents to events, and events back to documents.
