// Package letters implements the relay of an outbox, and the verbs that list, edit, redrive and discard dead letters.
package letters
