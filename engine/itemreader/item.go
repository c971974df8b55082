package itemreader

import "stepback/jsonvalue"

// Item is one element of a distributed Map's dataset.
type Item struct {
	// Index is the item's number from 0, as in $$.Map.Item.Index.
	Index int64
	// Value is the item, or a member's value if an object is iterated, as in $$.Map.Item.Value.
	Value jsonvalue.Value
	// Key is the member's name if an object is iterated (Keyed), as in $$.Map.Item.Key.
	Key   string
	Keyed bool
	// Source is "S3://bucket/key", or "S3://bucket" for a plain listing, as in $$.Map.Item.Source.
	Source string
}

// Position is a reader's progress, for a checkpoint.
type Position struct {
	// Index is the number of items read or skipped so far; Skip(Index) on a new reader of the same dataset resumes
	// here.
	Index int64
	// Source is the object being read; empty before the first one is open.
	Source string
	// Offset is the number of (decompressed) bytes of that object that have been consumed; 0 for listings.
	Offset int64
}
