package intrinsic

import (
	"encoding/binary"

	googleuuid "github.com/google/uuid"

	"stepback/asl/jsonvalue"
)

// uuid is States.UUID(): a version 4 UUID whose random bits come from the Env.
func uuid(o *operands) (jsonvalue.Value, error) {
	var id googleuuid.UUID
	binary.BigEndian.PutUint64(id[:8], o.env.Random())
	binary.BigEndian.PutUint64(id[8:], o.env.Random())
	id[6] = id[6]&0x0F | 0x40
	id[8] = id[8]&0x3F | 0x80
	return jsonvalue.OfString(id.String()), nil
}
