package store

import (
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
)

// The first bytes of keys. Numbers in keys are big-endian, so that they sort.
const (
	aboutKey   = 'a' // version and salt
	bodyKey    = 'b' // body: the contents of a message
	duplicates = 'd' // queue, deduplication key: when, and the sequence number
	moveKey    = 'm' // ID: the record of a task that moves messages
	nextKey    = 'n' // the number below which all have been given out
	queueKey   = 'q' // queue: its record
	stateKey   = 's' // queue, sequence number: the state of a message
)

func key(kind byte, numbers ...uint64) []byte {
	k := make([]byte, 1, 1+8*len(numbers))
	k[0] = kind
	for _, n := range numbers {
		k = binary.BigEndian.AppendUint64(k, n)
	}
	return k
}

// bounds are those of all keys that begin with a key.
func bounds(prefix []byte) *pebble.IterOptions {
	return &pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)}
}

// after is the first key behind all those that begin with prefix, which does not consist of 0xff bytes.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
