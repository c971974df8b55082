package maprun

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"stepback/aws"
	"stepback/engine/history"
)

// childNames names the child executions of a Map Run by the index of their first item. The names are UUIDs of version
// 8: the first 48 bits are the Map Run's, followed by the index of the item. So the children of a Map Run are
// adjacent and in order in the journal, and an item that is tried again after a crash has the same name.
type childNames struct {
	uuid   string // the first 48 bits, as 8-4 hexadecimal digits
	salt   uint64
	before string // the part of an ARN before the name
	after  string // the part after it
	prefix string // the prefix of all ARNs
}

func newChildNames(mapRunARN string, child Machine) childNames {
	sum := sha256.Sum256([]byte(mapRunARN))
	hi := binary.BigEndian.Uint64(sum[:8]) >> 16
	n := childNames{uuid: fmt.Sprintf("%08x-%04x", hi>>16, hi&0xFFFF), salt: binary.BigEndian.Uint64(sum[8:])}
	n.before = history.ExecutionARN(child.ARN, "")
	if child.Express {
		n.before = history.ExpressARN(child.ARN, "", "")
		n.before = n.before[:len(n.before)-1]
		n.after = ":" + aws.UUID(binary.BigEndian.Uint64(sum[16:]), n.salt)
	}
	n.prefix = n.before + n.uuid
	return n
}

// of returns the name and ARN of the child execution whose first item has this index.
func (n *childNames) of(first int64) (name, arn string) {
	const saltBits = 22 // after the 52 bits of the index
	i := uint64(first)
	tail := i&(1<<26-1)<<saltBits | (n.salt^i*0x9E3779B97F4A7C15)>>(64-saltBits)
	var low [10]byte // the last 80 bits of the UUID, with its version and its variant
	binary.BigEndian.PutUint16(low[:], uint16(0x8000|i>>40&0xFFF))
	binary.BigEndian.PutUint64(low[2:], (i>>26&0x3FFF|0x8000)<<48|tail)
	var digits [26]byte
	b := digits[:0]
	for _, part := range [...][]byte{low[:2], low[2:4], low[4:]} {
		b = hex.AppendEncode(append(b, '-'), part)
	}
	arn = n.prefix + string(b) + n.after
	return arn[len(n.before) : len(n.before)+36], arn
}
