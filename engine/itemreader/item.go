package itemreader

import "stepback/jsonvalue"

// Item is one element of a distributed Map's dataset.
type Item struct {
	// Index counts items from 0, as $$.Map.Item.Index.
	Index int64
	// Value is the item, or the member's value when an object is iterated, as $$.Map.Item.Value.
	Value jsonvalue.Value
	// Key is the member's name when an object is iterated (Keyed), as $$.Map.Item.Key.
	Key   string
	Keyed bool
	// Source is "S3://bucket/key", or "S3://bucket" for a plain listing, as $$.Map.Item.Source.
	Source string
}

// Position says how far a reader is, for a checkpoint.
type Position struct {
	// Index is the number of items read or skipped so far; Skip(Index) on a fresh reader of the same dataset resumes
	// here.
	Index int64
	// Source is the object being read, empty before the first one is open.
	Source string
	// Offset is the number of (decompressed) bytes of that object that have been consumed; 0 for listings.
	Offset int64
}
