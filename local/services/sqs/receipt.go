package sqs

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"

	"stepback/aws"
)

// receipt is a decoded receipt handle: the queue, the message in it, and the number of the reception.
type receipt struct{ queue, seq, number uint64 }

const receiptBytes = 28

// text encodes the receipt as the receipt handle for clients.
func (r receipt) text(salt uint64) string {
	b := make([]byte, 0, receiptBytes)
	for _, n := range []uint64{r.queue, r.seq, r.number} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(b, checksum(b, salt)))
}

func checksum(b []byte, salt uint64) uint32 { return crc32.ChecksumIEEE(b) ^ uint32(salt) }

// receipt decodes a receipt handle that this queue has issued.
func (q *live) receipt(text string, salt uint64) (receipt, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err == nil && len(b) == receiptBytes {
		numbers, sum := b[:receiptBytes-4], binary.BigEndian.Uint32(b[receiptBytes-4:])
		r := receipt{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}
		if sum == checksum(numbers, salt) && r.queue == q.id {
			return r, nil
		}
	}
	return receipt{}, &aws.Error{Code: "ReceiptHandleIsInvalid", Status: http.StatusNotFound,
		Message: fmt.Sprintf("The input receipt handle %q is not a valid receipt handle.", text)}
}
