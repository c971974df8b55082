// Package deadletters is one room for what could not be delivered, whatever kind it is: messages of an outbox, rows
// of an import, items of a Map, messages of a queue. A kind of letters is a [Room]; what a person does with them is
// an [Operator]: look, edit, redrive, discard.
//
// Every act is recorded with who did it, when, and what it was before and after, in the transaction that does it. A
// letter is redriven by one operator only, however many try: the others are told who did it.
//
// The package never delivers anything itself and never deletes a letter: a redriven letter goes back to whoever
// delivers its kind.
package deadletters
