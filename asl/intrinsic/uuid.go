package intrinsic

import (
	"encoding/binary"
	"encoding/hex"

	"stepback/asl/jsonvalue"
)

// uuid is States.UUID: a version 4 UUID (RFC 9562) from two draws.
func uuid(_ []jsonvalue.Value, env Env) (jsonvalue.Value, error) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], env.Random())
	binary.LittleEndian.PutUint64(b[8:], env.Random())
	b[6] = b[6]&0x0F | 0x40
	b[8] = b[8]&0x3F | 0x80
	s := []byte("00000000-0000-0000-0000-000000000000")
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	return jsonvalue.OfString(string(s)), nil
}
