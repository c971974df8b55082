package store

import "encoding/binary"

// The first bytes of keys. Numbers in keys are big-endian, so that they sort numerically.
const (
	aboutKey   = 'a' // version and salt
	bodyKey    = 'b' // body: the contents of a message
	duplicates = 'd' // queue, deduplication key: time and sequence number
	moveKey    = 'm' // ID: the record of a message move task
	nextKey    = 'n' // upper bound of the numbers handed out
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
