// Package pebblestore opens Pebble stores so that damage is reported: a log that has lost its end, a MANIFEST that has
// lost its end or its marker, tables with changed bytes, missing files. Pebble itself takes a log or a MANIFEST that
// stops early for one torn by a crash, and reads tables only when their data is needed.
//
// The mechanism for logs is the anchor, a small file beside the log. It holds the number of the newest change that is
// on the disk, and is written after each sync, before the change is acknowledged. A store whose log ends before that
// number has lost acknowledged changes: see LostTail. Everything else is compared with the checksums that Pebble
// stores.
//
// The package does not interpret keys or values, and writes no data of its own into a store.
package pebblestore
