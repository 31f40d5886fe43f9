"""Every word about an action: cards, sentences, next calls, refusals. Pure; nothing here decides."""
