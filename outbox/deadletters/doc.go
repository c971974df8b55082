// Package deadletters manages everything that could not be delivered, of whatever kind: messages of an outbox, rows
// of an import, items of a Map, messages of a queue. A [Store] is a store of letters; an [Operator] acts on them:
// look, edit, redrive, discard.
//
// Every act is recorded, in the transaction that carries it out, with who did it, when, and the state before and
// after. However many operators redrive a letter, only one succeeds; the others get an error that names that operator.
//
// The package never delivers anything itself and never deletes a letter: a redriven letter is delivered by the
// component that delivers its kind.
package deadletters
