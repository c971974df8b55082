package dynamodb

import (
	"encoding/binary"
	"hash/fnv"

	"stepback/local/services/dynamodb/item"
)

// The first bytes of keys in the store. Numbers in keys are big-endian, so that they sort.
const (
	aboutKey  = 'a' // the version of the format
	expiryKey = 'e' // table, second, place: an item that is to go
	itemKey   = 'i' // table, place: an item
	nextKey   = 'n' // the number below which all have been given out
	recordKey = 'r' // stream, number: a record of a stream
	statsKey  = 's' // table: how much is in it
	tableKey  = 't' // table: its record
	streamKey = 'u' // stream: what it is
	tokenKey  = 'v' // scope and client token of a transaction: what it asked, and when
	indexKey  = 'x' // table, index, place in the index, place: the place
)

// version is that of the format of the store.
const version = 1

func key(kind byte, numbers ...uint64) []byte {
	k := make([]byte, 1, 1+8*len(numbers)+64)
	k[0] = kind
	for _, n := range numbers {
		k = binary.BigEndian.AppendUint64(k, n)
	}
	return k
}

// hashBytes is how long the hash at the beginning of a place is.
const hashBytes = 8

// appendPartition appends what all places of one partition key begin with: its hash, which spreads partitions as AWS
// does and cuts a table into segments, and the key.
func appendPartition(dst []byte, partition item.Value) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, hashBytes)...)
	dst = item.AppendKey(dst, partition)
	h := fnv.New64a()
	_, _ = h.Write(dst[at+hashBytes:]) // which never fails
	n := h.Sum64()
	n ^= n >> 33 // the highest bits of FNV say little of short keys
	n *= 0xff51afd7ed558ccd
	n ^= n >> 33
	binary.BigEndian.PutUint64(dst[at:], n)
	return dst
}

// appendPlace appends where an item is in a table or in an index: hash, partition key, sort key.
func appendPlace(dst []byte, s schema, i item.Item) []byte {
	dst = appendPartition(dst, i[s.Hash])
	if s.Range != "" {
		dst = item.AppendKey(dst, i[s.Range])
	}
	return dst
}
