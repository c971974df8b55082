// Package ledger is the record of which rows of a file are decided: counted, and by which run, or closed. The rows of a
// file are dense numbers, so they are kept by blocks of 128 neighbours, in a few bytes where all of a block were
// counted by one run, and not as a key for each row.
//
// It is pure. The stores read a block, ask it, change it and write it back in the transaction that counts the rows;
// they see to it that nobody else has the block meanwhile.
package ledger
