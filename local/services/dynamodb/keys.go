package dynamodb

import (
	"encoding/binary"
	"hash/fnv"

	"stepback/local/services/dynamodb/item"
)

// The first bytes of keys in the store. Numbers in keys are big-endian, so that they sort correctly.
const (
	aboutKey  = 'a' // the version of the format
	expiryKey = 'e' // table, second, place: an item that will expire
	itemKey   = 'i' // table, place: an item
	nextKey   = 'n' // the number below which all have been allocated
	recordKey = 'r' // stream, number: a record of a stream
	statsKey  = 's' // table: its item count and size
	tableKey  = 't' // table: its record
	streamKey = 'u' // stream: its description
	tokenKey  = 'v' // scope and client token of a transaction: its content and time
	indexKey  = 'x' // table, index, place in the index, place: the place
)

// version is the version of the store's format.
const version = 1

func key(kind byte, numbers ...uint64) []byte {
	k := make([]byte, 1, 1+8*len(numbers)+64)
	k[0] = kind
	for _, n := range numbers {
		k = binary.BigEndian.AppendUint64(k, n)
	}
	return k
}

// hashBytes is the length of the hash at the start of a place.
const hashBytes = 8

// appendPartition appends the prefix that the places of all items with one partition key share: the key's hash and
// the attributes of the key. The hash spreads partitions as AWS does, and divides a table into segments.
func appendPartition(dst []byte, s schema, i item.Item) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, hashBytes)...)
	dst = item.AppendKey(dst, i[s.Hash])
	for _, name := range s.MoreHashes {
		dst = item.AppendKey(dst, i[name])
	}
	h := fnv.New64a()
	_, _ = h.Write(dst[at+hashBytes:]) // never fails
	n := h.Sum64()
	n ^= n >> 33 // the highest bits of FNV depend too little on short keys
	n *= 0xff51afd7ed558ccd
	n ^= n >> 33
	binary.BigEndian.PutUint64(dst[at:], n)
	return dst
}

// appendPlace appends the place of an item in a table or in an index: hash, partition key, sort key.
func appendPlace(dst []byte, s schema, i item.Item) []byte {
	dst = appendPartition(dst, s, i)
	if s.Range != "" {
		dst = item.AppendKey(dst, i[s.Range])
	}
	for _, name := range s.MoreRanges {
		dst = item.AppendKey(dst, i[name])
	}
	return dst
}
