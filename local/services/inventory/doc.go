// Package inventory finds damage in the files that services keep beside the store of documents: changed bytes, a
// missing or a cut file, an older copy.
//
// A JSON file carries a seal, which is its last member: a checksum of the text before it, and a generation that grows
// with each write. The inventory, a table in the store of documents, holds the newest generation of each file; of a
// file that only grows, it holds the length and the checksum. An entry is written after its file and removed before it,
// so that it never promises more than there is: after a crash, a file may be newer than its entry, but never older.
//
// The package does not interpret files, and repairs nothing.
package inventory
