// Package ledger records which rows of a file are decided. A decided row is either counted, with the run that
// counted it, or closed. The rows of a file have consecutive numbers, so they are stored in blocks of 128
// neighbours instead of with a key for each row. A block whose rows were all counted by one run takes a few bytes.
//
// The package is pure. Stores read a block, query it, change it, and write it back in the transaction that counts
// the rows. They must prevent concurrent access to the block.
package ledger
